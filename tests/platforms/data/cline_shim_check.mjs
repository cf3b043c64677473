// Plays Cline for our plugin: node cline_shim_check.mjs PLUGIN
const { default: plugin } = await import(process.argv[2])
plugin.setup({}, { session: { sessionId: "s_1" }, workspaceInfo: { rootPath: "/p" } })
const first = await plugin.hooks.beforeRun({})
const second = await plugin.hooks.beforeRun({})
console.log(JSON.stringify({ name: plugin.name, manifest: plugin.manifest, first, second: second ?? null }))
