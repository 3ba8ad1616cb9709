package handlers

// serveMCP relays a request to the MCP server that the path names.
func serveMCP(x *apiRequest) error { return x.gateway.Tools().Serve(x.req, x.name) }
