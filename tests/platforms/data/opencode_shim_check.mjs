// Plays OpenCode for our plugin: node opencode_shim_check.mjs PLUGIN
const plugin = (await import(process.argv[2])).Ijfw
const toasts = []
const client = { tui: { showToast: async (toast) => toasts.push(toast.body.message) } }
const hooks = await plugin({ client, directory: "/p" })
const main = { sessionID: "ses_a" }
const helper = { sessionID: "ses_b" }
const event = (type, properties) => hooks.event({ event: { type, properties } })

await event("session.created", { info: { id: "ses_b", parentID: "ses_a" } })
const parts = [{ type: "text", text: "hi" }, { type: "text", text: "x", synthetic: true }]
await hooks["chat.message"](main, { message: { id: "m1" }, parts })
const out = { system: ["base"] }
await hooks["experimental.chat.system.transform"](main, out)
await hooks["experimental.chat.system.transform"](helper, out)
await hooks["chat.message"](helper, { parts: [{ type: "text", text: "by an agent" }] })
const call = { tool: "bash", ...main, callID: "c", args: {} }
await hooks["tool.execute.after"](call, { output: "x", metadata: { exit: 0 } })
await event("session.idle", main)
await event("session.idle", helper)
await hooks.event({ event: null })
console.log(JSON.stringify({ system: out.system, toasts }))
