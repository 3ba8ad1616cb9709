package vnc

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/jsontest"
	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

// derivedLogin lets machines of this one address be registered.
const derivedLogin = "register_networks 127.0.0.1/32 ::1/128\ncredential vm {\nderive {env.MACHINE_ROOT}\n}\n"

func startWithRoot(t *testing.T) *harness.Gateway {
	t.Helper()
	t.Setenv("MACHINE_ROOT", harness.MachineRoot)
	return harness.StartVNC(t, harness.Setup{VNC: derivedLogin})
}

func registered(address, machine string) string {
	return fmt.Sprintf(`{"address":%q,"credential":"vm","generation":%q}`, address, machine)
}

// refusedAt returns the reason that a viewer gets instead of a desktop.
func refusedAt(h *harness.Gateway, host string) string {
	h.T.Helper()
	w := h.VNC.TLSFirst(host)
	text := w.Refusal()
	if w.Err != nil {
		h.T.Errorf("%v", w.Err)
	}
	return text
}

// The address of a machine that is gone is given to another one, before anybody has told the gateway.
func TestVNCAnotherMachineAtTheAddressIsNotShown(t *testing.T) {
	h := startWithRoot(t)
	place := harness.NewPlace(t)
	place.Boot("one", "vm-1")
	h.Client.Want(201, "PUT", workstations+"/one", "manage", registered(place.Address(), "vm-1"))
	one := h.VNC.Issue("connect", "one", "")
	w := h.VNC.TLSFirst(one.Host)
	if shown := w.Shown(); shown != "one vm-1" || w.Err != nil {
		t.Fatalf("%q, %v", shown, w.Err)
	}
	place.Boot("two", "vm-2")
	w.End()
	h.VNC.WaitClosed()
	if text := refusedAt(h, one.Host); text != "The workstation refused the gateway's password. Tell your administrator." {
		t.Errorf("told %q", text)
	}
	h.Client.Want(201, "PUT", workstations+"/two", "manage", registered(place.Address(), "vm-2"))
	w = h.VNC.TLSFirst(h.VNC.Issue("connect", "two", "").Host)
	if shown := w.Shown(); shown != "two vm-2" || w.Err != nil {
		t.Errorf("%q, %v", shown, w.Err)
	}
	w.Leave()
	// One that asks for no password may be any machine.
	open := harness.NewVNCServer(t, harness.NoSecurity)
	h.Client.Want(201, "PUT", workstations+"/three", "manage", registered(open.Address(), "vm-3"))
	if text := refusedAt(h, h.VNC.Issue("connect", "three", "").Host); !strings.Contains(text, "no security type that the gateway may use") {
		t.Errorf("told %q", text)
	}
	h.Stop()
	for where, text := range map[string]string{"the log": harness.Log.Text(), "the data": harness.DataFiles(h), "the storage": stored(h)} {
		if strings.Contains(text, harness.MachineRoot) {
			t.Errorf("%s has the root", where)
		}
	}
	if !jsontest.Has(t, stored(h), `{"generation":"vm-2"}`) {
		t.Error("nothing to look at")
	}
}
