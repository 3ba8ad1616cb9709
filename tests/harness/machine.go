package harness

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"strings"
	"sync"
	"testing"
)

// MachineRoot is the secret from which the passwords of machines are derived.
const MachineRoot = "root-canary-5b1c9e7740aa"

// Place is an address at which one machine runs after the other, each with a VNC server and a password
// of its own.
type Place struct {
	*VNCServer

	mu             sync.Mutex // guards the following
	name, password string
}

// NewPlace listens until the test's end. No machine runs there yet: who connects is refused.
func NewPlace(t *testing.T) *Place {
	p := new(Place)
	p.VNCServer = NewVNCServer(t, func(w *Conn) {
		p.mu.Lock()
		name, password := p.name, p.password
		p.mu.Unlock()
		Offer(w, 2).Expect(2)
		checkPassword(w, password)
		w.shows = ServerInit[:20] + "\x00\x00\x00" + string(rune(len(name))) + name
	})
	return p
}

// Runs is the workstation whose machine runs there, "" for none.
func (p *Place) Runs() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	name, _, _ := strings.Cut(p.name, " ")
	return name
}

// Password is that of the machine that runs there.
func (p *Place) Password() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.password
}

// Boot has a machine run there, for the workstation that the control plane has told it. Its desktop has
// both names. Open connections to the machine before it end, as it is gone.
func (p *Place) Boot(workstation, machine string) {
	mac := hmac.New(sha256.New, []byte(MachineRoot))
	mac.Write([]byte(strings.Join([]string{"gatehouse vnc 1", "default", workstation, machine}, "\x00")))
	p.mu.Lock()
	p.name, p.password = workstation+" "+machine, base64.RawURLEncoding.EncodeToString(mac.Sum(nil))[:22]
	p.mu.Unlock()
	p.VNCServer.mu.Lock()
	defer p.VNCServer.mu.Unlock()
	for conn := range p.open {
		_ = conn.Close()
	}
}
