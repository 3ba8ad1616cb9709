package vncsocket

import (
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/handlerstest"
)

// Nothing but a WebSocket of a key that may connect is served at the socket of a workstation.
func TestTheSocketIsForKeysThatMayConnect(t *testing.T) {
	g := handlerstest.Start(t, handlerstest.Setup{Workstations: true})
	const path = "/v1/workstations/desk1/socket"
	handlerstest.Call(t, g, "GET", path, "connect", "").Want(t, 400, "invalid_value", "this path is a WebSocket")
	handlerstest.Call(t, g, "GET", path, "manage", "").Want(t, 403, "insufficient_scope", "workstations:connect")
	handlerstest.Call(t, g, "GET", path, "nobody", "").Want(t, 401, "invalid_api_key", "")
	handlerstest.Call(t, g, "POST", path, "connect", "").Want(t, 405, "method_not_allowed", "")
	without := handlerstest.Start(t, handlerstest.Setup{})
	handlerstest.Call(t, without, "GET", path, "connect", "").Want(t, 404, "unknown_url", "no workstations")
}
