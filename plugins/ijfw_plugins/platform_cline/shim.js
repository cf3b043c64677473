// IJFW (local memory for coding agents): gives a session its memory, in its first request.
// Hook scripts cannot: the client does not wait for the one of a task's start.
import { spawn } from "node:child_process"

const COMMAND = []
const ANSWER_MS = 2500 // to wait for the memory

// What the hook prints for a payload on its stdin.
function ask(event, payload) {
  return new Promise((done) => {
    if (!COMMAND.length) return done("")
    let out = ""
    try {
      const child = spawn(COMMAND[0], [...COMMAND.slice(1), event], { stdio: ["pipe", "pipe", "ignore"] })
      const end = () => done(out)
      child.on("error", end)
      child.on("close", end)
      child.stdin.on("error", () => {})
      child.stdin.end(JSON.stringify(payload))
      child.stdout.on("data", (data) => { out += data })
      setTimeout(end, ANSWER_MS).unref?.()
    } catch { done("") }
  })
}

let session = ""
let cwd = ""
let begun = false

const plugin = {
  name: "ijfw",
  manifest: { capabilities: ["hooks"] },
  setup(_, context) {
    session = context?.session?.sessionId ?? ""
    cwd = context?.workspaceInfo?.rootPath ?? process.cwd()
  },
  hooks: {
    beforeRun: async () => {
      if (begun || !session) return
      begun = true
      const out = await ask("RunStart", { session_id: session, cwd, timestamp: Date.now() })
      try {
        const words = JSON.parse(out || "{}").contextModification
        return words ? { appendContext: words } : undefined
      } catch { return undefined }
    },
  },
}
export default plugin
export { plugin }
