package vnc

import (
	"strings"

	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

const workstations = "/v1/workstations"

// names are the workstations that a key sees, with their states.
func names(h *harness.Gateway, key string) string {
	h.T.Helper()
	a := h.Client.Want(200, "GET", workstations, key, "")
	if harness.At(harness.Parse(h.T, a.Body), "object") != "list" {
		h.T.Errorf("no list: %s", a.Body)
	}
	var names []string
	list, _ := harness.At(harness.Parse(h.T, a.Body), "data").([]any)
	for _, w := range list {
		id, _ := harness.At(w, "workstation_id").(string)
		state, _ := harness.At(w, "state").(string)
		names = append(names, id+" "+state)
	}
	return strings.Join(names, ", ")
}
