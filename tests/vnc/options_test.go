package vnc

import (
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

// Clients that know all fields send null for those they do not set.
func TestVNCNullLeavesAnOptionAsItIs(t *testing.T) {
	d := harness.NewVNCServer(t, harness.NoSecurity)
	h := harness.Start(t, harness.Setup{VNC: "view_only\nregister_networks 10.0.0.0/8\n" + d.As("one", "")})
	for _, body := range []string{`{"expires_in":null}`, `{"view_only":null,"shared":null}`, `{"expires_in": null ,"view_only":null,"shared":null}`} {
		before := time.Now().Truncate(time.Second)
		a := h.Client.Want(200, "POST", vncOfOne, "connect", body)
		v := harness.Parse(t, a.Body)
		text, _ := harness.At(v, "expires_at").(string)
		expires, err := time.Parse(time.RFC3339, text)
		if low, high := before.Add(5*time.Minute), time.Now().Add(5*time.Minute); err != nil || expires.Before(low) || expires.After(high) {
			t.Errorf("%s: expires_at %q", body, text)
		}
		if harness.At(v, "session", "view_only") != true || harness.At(v, "session", "shared") != false {
			t.Errorf("%s: %s", body, a.Body)
		}
	}
	h.Client.Want(201, "PUT", workstations+"/two", "manage", `{"address":"10.0.0.7:5901","credential":null}`)
	h.Client.Want(200, "PUT", workstations+"/one", "manage", `{"address":null,"credential":null}`) // a declared one is restored
}
