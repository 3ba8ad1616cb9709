package responsesocket

import (
	"context"
	"encoding/binary"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"
)

// rawFrame is a frame of a client, whose mask is nothing.
func rawFrame(head byte, payload string) []byte {
	b := []byte{head, 0x80 | 126}
	b = binary.BigEndian.AppendUint16(b, uint16(len(payload)))
	return append(append(b, 0, 0, 0, 0), payload...)
}

// What is no frame of RFC 6455 ends the connection, and the response that is being made. Fragments
// and control frames between them are none of that.
func TestAHostileClient(t *testing.T) {
	const create = `{"type":"response.create","input":"x"}`
	for name, c := range map[string]struct {
		sent []byte
		code websocket.StatusCode // -1: no Close
	}{
		"not masked":            {append([]byte{0x81, 2}, "{}"...), -1},
		"compressed":            {rawFrame(0xc1, "{}"), websocket.StatusProtocolError},
		"an unknown kind":       {rawFrame(0x83, ""), websocket.StatusProtocolError},
		"a rest of nothing":     {rawFrame(0x80, "{}"), websocket.StatusProtocolError},
		"a long ping":           {rawFrame(0x89, strings.Repeat("p", 126)), websocket.StatusProtocolError},
		"a ping in pieces":      {rawFrame(0x09, ""), websocket.StatusProtocolError},
		"a Close that is none":  {rawFrame(0x88, "x"), websocket.StatusProtocolError},
		"a length without end":  {[]byte{0x81, 0x80 | 127, 0x7f, 255, 255, 255, 255, 255, 255, 255, 0, 0, 0, 0}, -1},
		"a message in a second": {append(rawFrame(0x01, "{"), rawFrame(0x81, "{}")...), -1},
	} {
		inside(t, func(t *testing.T, g *rig) {
			defer g.during()()
			one := g.dial("a")
			one.create(`"input":"x"`)
			synctest.Wait()
			go func() { _, _ = one.raw.Write(c.sent) }()
			began := time.Now()
			code, _ := one.ended()
			if c.code != -1 && code != c.code || time.Since(began) > 15*time.Second {
				t.Errorf("%s: %d after %s", name, code, time.Since(began))
			}
		})
	}
	inside(t, func(t *testing.T, g *rig) {
		one := g.dial("a")
		go func() {
			for i := range create {
				head := byte(0) // a rest
				if i == 0 {
					head = 1
				}
				if i == len(create)-1 {
					head |= 0x80
				}
				_, _ = one.raw.Write(rawFrame(head, create[i:i+1]))
				_, _ = one.raw.Write(rawFrame(0x89, "ping"))
				_, _ = one.raw.Write(rawFrame(0x8a, "pong of nothing"))
			}
		}()
		one.until("response.completed")
		g.wantBodies(`{"input":"x","stream":true}`)
	})
}

// A large frame, and a large event of a provider, pass.
func TestLargeFramesPass(t *testing.T) {
	inside(t, func(t *testing.T, g *rig) {
		g.maxBody = 17 << 20
		c := g.dial("a")
		large := `"input":"` + strings.Repeat("x", 16<<20) + `"`
		c.create(large)
		c.until("response.completed")
		if len(g.bodyOf[0]) < 16<<20 {
			t.Errorf("%d bytes", len(g.bodyOf[0]))
		}
	})
}

// A client that takes nothing loses its connection when the time of a write is over, and its turn
// ends.
func TestAClientThatTakesNothing(t *testing.T) {
	inside(t, func(t *testing.T, g *rig) {
		c := g.dial("a")
		if err := c.Write(context.Background(), websocket.MessageText, []byte(`{"type":"response.create","input":"x"}`)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if open := g.sockets.Open(); open != 0 {
			t.Errorf("%d connections are open", open)
		}
	})
}
