package responsesocket

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"

	"github.com/gatehouse-proxy/gatehouse/internal/socket"
)

// during is a turn that lasts until the test releases it.
func (g *rig) during() (release func()) {
	held := make(chan struct{})
	g.turns(func(w http.ResponseWriter, r *http.Request, _ bool) {
		select {
		case <-held:
			say(w, "resp_1")
		case <-r.Context().Done():
		}
	})
	return func() { close(held) }
}

func TestAFrameMayEndTheConnection(t *testing.T) {
	inside(t, func(t *testing.T, g *rig) {
		g.maxBody = 1000
		for name, c := range map[string]struct {
			kind websocket.MessageType
			data string
			code websocket.StatusCode
			text string
		}{
			"binary":     {websocket.MessageBinary, "{}", 1003, "text"},
			"no UTF-8":   {websocket.MessageText, "{\"\xff\":1}", 1007, "UTF-8"},
			"too large":  {websocket.MessageText, strings.Repeat(" ", 1001), 1009, "max_body"},
			"far larger": {websocket.MessageText, strings.Repeat(" ", 1<<20), 1009, ""},
		} {
			one := g.dial("a")
			go func() { _ = one.Write(context.Background(), c.kind, []byte(c.data)) }() // it may be cut off
			if code, reason := one.ended(); code != c.code || !strings.Contains(reason, c.text) {
				t.Errorf("%s: %d %s", name, code, reason)
			}
		}
	})
}

// A frame is refused by name, and the connection goes on.
func TestAFrameMayBeRefused(t *testing.T) {
	inside(t, func(t *testing.T, g *rig) {
		c := g.dial("a")
		for text, want := range map[string][2]string{
			`{`:               {"invalid_json", ""},
			`[]`:              {"invalid_json", ""},
			`{"a":1,"A":1}`:   {"invalid_json", "A"},
			`{"model":"m"}`:   {"missing_required_parameter", "type"},
			`{"type":1}`:      {"invalid_value", "type"},
			`{"type":"ping"}`: {"invalid_value", "type"},
			`{"type":"response.create","stream_id":"a"}`:      {"invalid_stream_id", "stream_id"},
			`{"type":"response.create","background":true}`:    {"unsupported_parameter", "background"},
			`{"type":"response.create","generate":"nothing"}`: {"invalid_value", "generate"},
		} {
			c.send(text)
			e := c.wantError(400, want[0])
			if param, _ := e["error"].(map[string]any)["param"].(string); param != want[1] {
				t.Errorf("%s: %v", text, e)
			}
		}
		c.send(`{"type":"response.processed","response_id":"resp_1"}`)
		c.send(`{"type":"response.steer","previous_response_id":"resp_1","input":[]}`)
		if e := c.next(); e["type"] != "response.steer.failed" || e["error"].(map[string]any)["code"] != "steering_not_supported" {
			t.Errorf("%v", e)
		}
		c.create(`"background":false,"input":"x"`)
		c.until("response.completed")
	})
}

func TestTooManyEventsThatAreNoneEndTheConnection(t *testing.T) {
	inside(t, func(t *testing.T, g *rig) {
		c := g.dial("a")
		go func() {
			for c.Write(context.Background(), websocket.MessageText, []byte(`{"type":"response.processed"}`)) == nil {
			}
		}()
		if code, reason := c.ended(); code != 1008 || !strings.Contains(reason, "Too many") {
			t.Error(code, reason)
		}
	})
}

// A frame that has begun must arrive in time.
func TestASlowFrameEndsTheConnection(t *testing.T) {
	inside(t, func(t *testing.T, g *rig) {
		c := g.dial("a")
		w, err := c.Writer(t.Context(), websocket.MessageText)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(strings.Repeat(" ", 8<<10))); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		if code, reason := c.ended(); code != 1008 || !strings.Contains(reason, "in time") || time.Since(began) > 12*time.Second {
			t.Error(code, reason, time.Since(began))
		}
	})
}

// A frame for which there is no memory is thrown away, and the next is read.
func TestAFrameWithoutMemoryIsRefused(t *testing.T) {
	inside(t, func(t *testing.T, g *rig) {
		c := g.dial("a")
		g.bodies.SetLimit(0)
		go c.create(`"input":"` + strings.Repeat("x", 500_000) + `"`)
		c.wantError(429, "gateway_busy")
		g.bodies.SetLimit(64 << 20)
		c.create(`"input":"x"`)
		c.until("response.completed")
	})
}

func TestAConnectionEndsWhenItIsIdleOrOld(t *testing.T) {
	inside(t, func(t *testing.T, g *rig) {
		began := time.Now()
		c := g.dial("a")
		c.create(`"input":"x"`)
		c.until("response.completed")
		if code, reason := c.ended(); code != 1000 || !strings.Contains(reason, "10 minutes") || time.Since(began) < IdleTime || time.Since(began) > IdleTime+time.Second {
			t.Error(code, reason, time.Since(began))
		}
	})
	inside(t, func(t *testing.T, g *rig) {
		began := time.Now()
		c := g.dial("a")
		ended := make(chan websocket.StatusCode, 1)
		go func() { code, _ := c.ended(); ended <- code }()
		for {
			select {
			case code := <-ended:
				if age := time.Since(began); code != 1001 || age < socket.LifeTime || age > socket.LifeTime+time.Second {
					t.Error(code, age)
				}
				return
			case <-time.After(7 * time.Minute):
				c.create(`"input":"x"`)
			}
		}
	})
	inside(t, func(t *testing.T, g *rig) {
		began := time.Now()
		release := g.during()
		c := g.dial("a")
		c.create(`"input":"x"`)
		go func() { time.Sleep(70 * time.Minute); release() }()
		c.until("response.completed")
		c.wantError(400, "websocket_connection_limit_reached")
		if code, _ := c.ended(); code != 1000 || time.Since(began) < 70*time.Minute {
			t.Error(code, time.Since(began))
		}
	})
}

// A key that is gone ends its idle connections within a second. A turn goes on, as over HTTP.
func TestTheKeyIsLookedAtAgain(t *testing.T) {
	inside(t, func(t *testing.T, g *rig) {
		release := g.during()
		idle, busy := g.dial("a"), g.dial("b")
		busy.create(`"input":"x"`)
		synctest.Wait()
		g.invalid.Store(true)
		began := time.Now()
		if code, reason := idle.ended(); code != 1008 || !strings.Contains(reason, "key") || time.Since(began) > time.Second {
			t.Error(code, reason, time.Since(began))
		}
		release()
		busy.until("response.completed")
		if code, _ := busy.ended(); code != 1008 {
			t.Error(code)
		}
	})
}

// At a reload an idle connection ends at once, and another one after its turn; what waits is not
// begun.
func TestAReloadEndsConnections(t *testing.T) {
	inside(t, func(t *testing.T, g *rig) {
		release := g.during()
		idle, busy := g.dial("a"), g.dial("b")
		busy.create(`"input":"x"`)
		busy.create(`"input":"waits"`)
		synctest.Wait()
		began := time.Now()
		g.sockets.Replaced()
		if code, reason := idle.ended(); code != 1012 || !strings.Contains(reason, "replaced") || time.Since(began) > 0 {
			t.Error(code, reason, time.Since(began))
		}
		busy.create(`"input":"late"`)
		if _, status := g.try("c"); status == http.StatusSwitchingProtocols || g.sockets.Accepts() {
			t.Errorf("a connection opens: %d", status)
		}
		next := NewSockets(g.process, socket.Limits{PerKey: 1, Most: 1}, time.Now) // the other configuration counts it too
		if err := next.Enter("b"); err == nil {
			t.Error("the limit does not count connections of older configurations")
		}
		release()
		busy.until("response.completed")
		if code, _ := busy.ended(); code != 1012 || len(g.bodyOf) != 1 {
			t.Error(code, g.bodyOf)
		}
	})
}

// The process waits for turns as long as it may.
func TestAShutdownWaitsForTurns(t *testing.T) {
	for name, c := range map[string]struct{ turn, grace, want time.Duration }{
		"a short turn": {5 * time.Second, time.Minute, 5 * time.Second}, "a long turn": {time.Hour, time.Minute, time.Minute},
	} {
		inside(t, func(t *testing.T, g *rig) {
			release := g.during()
			idle, busy := g.dial("a"), g.dial("b")
			busy.create(`"input":"x"`)
			synctest.Wait()
			go func() { time.Sleep(c.turn); release() }()
			go func() { _, _ = idle.ended() }()
			ended := make(chan websocket.StatusCode, 1)
			go func() { code, _ := busy.ended(); ended <- code }()
			ctx, cancel := context.WithTimeout(t.Context(), c.grace)
			defer cancel()
			began := time.Now()
			g.sockets.Drain(ctx)
			if took := time.Since(began); took < c.want || took > c.want+time.Second {
				t.Errorf("%s: %s", name, took)
			}
			if c.turn > c.grace {
				_ = busy.CloseNow()
				time.Sleep(c.turn)
				return
			}
			if code := <-ended; code != 1001 {
				t.Errorf("%s: %d", name, code)
			}
		})
	}
}
