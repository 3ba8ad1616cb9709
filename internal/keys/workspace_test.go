package keys_test

import (
	"regexp"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/keys"
)

func TestAWorkspaceIsAUUIDOfItsTenant(t *testing.T) {
	a, again, b := keys.WorkspaceID("acme"), keys.WorkspaceID("acme"), keys.WorkspaceID("other")
	if a != again || a == b {
		t.Errorf("%q, %q, %q", a, again, b)
	}
	if !regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`).MatchString(a) {
		t.Errorf("%q is no UUID of version 5", a)
	}
	if got := keys.WorkspaceID(""); got != "" {
		t.Errorf("no tenant has the workspace %q", got)
	}
	const known = "765c54b4-6a5a-5475-ad57-84d131bcb123" // names that clients keep do not change
	if got := keys.WorkspaceID("default"); got != known {
		t.Errorf("got %q", got)
	}
}
