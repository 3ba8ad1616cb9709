package handlers

import "testing"

// Nothing but a WebSocket of a key that may connect is served at the socket of a workstation.
func TestTheSocketIsForKeysThatMayConnect(t *testing.T) {
	g := startGateway(t, setup{workstations: true})
	const path = "/v1/workstations/desk1/socket"
	call(t, g, "GET", path, "connect", "").want(t, 400, "invalid_value", "this path is a WebSocket")
	call(t, g, "GET", path, "manage", "").want(t, 403, "insufficient_scope", "workstations:connect")
	call(t, g, "GET", path, "nobody", "").want(t, 401, "invalid_api_key", "")
	call(t, g, "POST", path, "connect", "").want(t, 405, "method_not_allowed", "")
	without := startGateway(t, setup{})
	call(t, without, "GET", path, "connect", "").want(t, 404, "unknown_url", "no workstations")
}
