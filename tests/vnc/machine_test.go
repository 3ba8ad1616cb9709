package vnc

import (
	"fmt"
	"net"
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

func TestVNCAnotherGenerationEndsTheSessionsBeforeItsAnswer(t *testing.T) {
	h := startWithRoot(t)
	before, after := harness.NewPlace(t), harness.NewPlace(t)
	before.Boot("one", "vm-1")
	after.Boot("one", "vm-1")
	h.Client.Want(201, "PUT", workstations+"/one", "manage", registered(before.Address(), "vm-1"))
	one := h.VNC.Issue("connect", "one", `{"shared":true}`)
	w := h.VNC.TLSFirst(one.Host)
	w.Shown()
	h.Client.Want(200, "PUT", workstations+"/one", "manage", registered(after.Address(), "vm-1")) // it has moved
	if w.Echo(1, 1); w.Err != nil {
		t.Fatalf("the session of a machine that moves: %v", w.Err)
	}
	a := h.Client.Do("DELETE", workstations+"/one?generation=vm-0", "manage", "")
	harness.WantRefusal(t, workstations, a, 409, "workstation_generation")
	if w.Echo(2, 2); w.Err != nil {
		t.Fatalf("the session after a late release: %v", w.Err)
	}
	after.Boot("one", "vm-2")
	h.Client.Want(200, "PUT", workstations+"/one", "manage", registered(after.Address(), "vm-2"))
	if open := h.VNC.Sessions("one"); len(open) != 0 {
		t.Errorf("%d sessions are open after the answer", len(open))
	}
	w.End()
	if text := refusedAt(h, one.Host); text != "This workstation was released." {
		t.Errorf("told %q", text)
	}
	w = h.VNC.TLSFirst(h.VNC.Issue("connect", "one", "").Host)
	if shown := w.Shown(); shown != "one vm-2" || w.Err != nil {
		t.Errorf("%q, %v", shown, w.Err)
	}
	w.Leave()
}

// What may not be dialled is refused when it is registered, or in one text when it is dialled.
func TestVNCPortsAreCheckedWhenTheyAreRegisteredAndDialled(t *testing.T) {
	d := harness.NewVNCServer(t, harness.NoSecurity)
	_, port, _ := net.SplitHostPort(d.Address())
	const networks = "register_networks 127.0.0.1/32 ::1/128 169.254.0.0/16\n"
	h := harness.StartVNC(t, harness.Setup{VNC: networks + "register_ports 22-22 5900-5999 " + port + "\n"})
	h.Client.Want(201, "PUT", workstations+"/one", "manage", `{"address":"`+d.Address()+`"}`)
	h.Client.Want(201, "PUT", workstations+"/name", "manage", `{"address":"localhost:`+port+`"}`)
	one, name := h.VNC.Issue("connect", "one", ""), h.VNC.Issue("connect", "name", "")
	h.VNC.View(one).Leave()
	h.Become(harness.Setup{VNC: networks + "register_ports 5900-5999 1\n"})
	a := h.Client.Do("PUT", workstations+"/two", "manage", `{"address":"`+d.Address()+`"}`)
	harness.WantRefusal(t, workstations, a, 400, "invalid_value")
	h.Client.Want(400, "PUT", workstations+"/two", "manage", `{"address":"127.0.0.1:22"}`)
	h.Client.Want(400, "PUT", workstations+"/two", "manage", `{"address":"169.254.1.1:5900"}`)
	h.Client.Want(201, "PUT", workstations+"/closed", "manage", `{"address":"127.0.0.1:1"}`)
	came := d.Connections()
	for _, host := range []string{one.Host, name.Host, h.VNC.Issue("connect", "closed", "").Host} {
		if text := refusedAt(h, host); text != "The workstation cannot be reached. Try again later." {
			t.Errorf("told %q", text)
		}
	}
	if d.Connections() != came {
		t.Error("the workstation was dialled")
	}
	vncLogLine(h, "vnc connection refused", `"workstation":"one"`, "the port is not one of register_ports")
}
