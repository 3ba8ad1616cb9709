package house

// arrowsOfConsole are the arrows of the console and of what serves desktops to browsers.
var arrowsOfConsole = []struct{ from, to, why string }{
	{"handlers/console", "caddy", "a Caddy module"},
	{"handlers/console", "handlers", "the public routes that pages read"},
	{"handlers/console", "internal/caddykit", "options, and where the gateway is"},
	{"handlers/console", "internal/console", "the pages for people"},
	{"handlers/console", "internal/vncsocket", "the socket of a desktop"},
	{"internal/console", "internal/console/novnc", "the viewer in the page"},
	{"handlers/console", "internal/gateway", "who signs in, and whose key is found again"},
	{"handlers/console", "internal/websession", "how long sessions live"},
	{"handlers/console", "internal/modelcall", "the caller that has signed in"},
	{"internal/console", "internal/apierror", "what codes mean"},
	{"internal/console", "internal/chart", "figures over time"},
	{"internal/console", "internal/workstation", "what the codes of desktops mean"},
	{"internal/console", "internal/keys", "scopes of pages"},
	{"internal/console", "internal/report", "what an answer lacks while commits are blocked"},
	{"internal/console", "internal/modelcall", "the caller that has signed in"},
	{"internal/console", "internal/websession", "who has signed in"},
	{"internal/gateway", "internal/websession", "who has signed in outlives a configuration"},
	{"internal/websession", "internal/cluster", "scripts, events, the beat of a node"},
	{"internal/websession", "internal/valkey", "answers of the engine"},
	{"caddymodule", "handlers/console", "one import brings the console with it"},
}
