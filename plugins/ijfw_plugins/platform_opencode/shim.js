// IJFW (local memory for coding agents): tells the hook what happens, waits for nothing.
// It starts no work when it is loaded: OpenCode loads plugins for every command.
import { spawn } from "node:child_process"

const COMMAND = []
const MOST = 1 << 18 // characters of a tool's output; the export of the session has the rest
const ANSWER_MS = 3000 // to wait for the memory that a session begins with
const PROMPT_MS = 500 // to wait for what a prompt brings; most bring nothing

// Runs the hook with a payload on its stdin; with `wait`, gives what it printed within so many ms.
function tell(event, payload, wait = 0) {
  return new Promise((done) => {
    if (!COMMAND.length) return done("")
    let out = ""
    try {
      const child = spawn(COMMAND[0], [...COMMAND.slice(1), event], {
        stdio: ["pipe", wait ? "pipe" : "ignore", "ignore"],
        env: { ...process.env, IJFW_OPENCODE: process.execPath },
      })
      const end = () => done(out)
      child.on("error", end)
      child.on("close", end)
      child.stdin.on("error", () => {})
      child.stdin.end(JSON.stringify({ hook_event_name: event, ...payload }))
      if (wait) {
        child.stdout.on("data", (data) => { out += data })
        setTimeout(end, wait).unref?.()
      } else child.unref?.()
    } catch { done("") }
  })
}

const typed = (parts) => (parts ?? [])
  .filter((part) => part?.type === "text" && !part.synthetic && !part.ignored)
  .map((part) => part.text ?? "").join("\n")

const text = (out) => typeof out?.output === "string" ? out.output
  : (out?.content ?? []).map((one) => one?.text ?? "").join("\n")

export const Ijfw = async ({ client, directory }) => {
  const began = new Map() // session -> the promise of its memory
  const brought = new Map() // session -> the promise of what its prompts brought, in their order
  const helpers = new Set() // sessions that an agent started
  const about = (session) => ({ session_id: session, cwd: directory, timestamp: Date.now() })

  // What the model is told of an answer; a person is shown the note.
  const shown = (out) => {
    try {
      const reply = JSON.parse(out || "{}")
      if (reply.note) client?.tui?.showToast?.({ body: { message: reply.note, variant: "info" } })?.catch?.(() => {})
      return reply.context ?? ""
    } catch { return "" }
  }

  const begin = (session) => {
    if (!session || helpers.has(session)) return Promise.resolve("")
    if (!began.has(session)) began.set(session, tell("session.start", about(session), ANSWER_MS).then(shown))
    return began.get(session)
  }

  return {
    event: async ({ event }) => {
      const { sessionID, info } = event?.properties ?? {}
      if (event?.type === "session.created" && info?.parentID) helpers.add(info.id)
      if (event?.type === "session.idle" && !helpers.has(sessionID)) tell("session.idle", about(sessionID))
    },
    "chat.message": async (input, output) => {
      if (helpers.has(input?.sessionID)) return
      const session = input.sessionID
      const said = { ...about(session), turn_id: output?.message?.id, prompt: typed(output?.parts) }
      const before = Promise.all([brought.get(session) ?? [], begin(session)])
      brought.set(session, before.then(async ([all]) => {
        const context = shown(await tell("chat.message", said, PROMPT_MS))
        return context ? [...all, context] : all
      }))
    },
    "tool.execute.after": async (input, output) => {
      if (input?.tool !== "bash") return // the export has all; what failed may be noted at once
      const exit = output?.metadata?.exit
      if (!exit) return
      tell("tool.execute.after", {
        ...about(input.sessionID), tool: input.tool, call_id: input.callID, args: input.args,
        exit, output: text(output).slice(-MOST), helper: helpers.has(input.sessionID),
      })
    },
    "experimental.chat.system.transform": async (input, output) => {
      const memory = await begin(input?.sessionID)
      if (memory) output.system.push(memory)
      output.system.push(...await (brought.get(input?.sessionID) ?? []))
    },
  }
}
