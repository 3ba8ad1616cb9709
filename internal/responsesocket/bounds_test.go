package responsesocket

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/socket"
)

func TestConnectionsAreBounded(t *testing.T) {
	inside(t, func(t *testing.T, g *rig) {
		mine := []*client{g.dial("a"), g.dial("a"), g.dial("a")}
		if _, status := g.try("a"); status != http.StatusTooManyRequests {
			t.Errorf("a fourth of a key: %d", status)
		}
		g.dial("b")
		if _, status := g.try("c"); status != http.StatusTooManyRequests {
			t.Errorf("a fifth of all: %d", status)
		}
		_ = mine[0].Close(1000, "")
		synctest.Wait()
		g.dial("c")
	})
}

// A conversation gives way to one that is used later. Its client is told so, and sends it again.
func TestConversationsGiveWay(t *testing.T) {
	inside(t, func(t *testing.T, g *rig) {
		g.process.states.most = 5000
		large := `"input":"` + strings.Repeat("x", 2000) + `"`
		older, newer := g.dial("a"), g.dial("b")
		older.create(large)
		older.until("response.completed")
		synctest.Wait() // it is kept
		newer.create(large)
		newer.until("response.completed")
		synctest.Wait()
		older.create(`"previous_response_id":"resp_1","store":false`)
		older.wantError(400, "previous_response_not_found")
		newer.create(`"previous_response_id":"resp_2","store":false`)
		newer.until("response.completed")
		g.maxBody = 3000
		third := g.dial("c") // what is kept of a connection is bounded as its frames are
		third.create(`"input":"` + strings.Repeat("x", 2900) + `"`)
		third.until("response.completed")
		third.create(`"previous_response_id":"resp_4","store":false`)
		third.wantError(400, "previous_response_not_found")
	})
}

// A client pings while its turn runs (openai-python does, and gives up without an answer).
func TestPingsAreAnsweredDuringATurn(t *testing.T) {
	inside(t, func(t *testing.T, g *rig) {
		release := g.during()
		c := g.dial("a")
		c.create(`"input":"x"`)
		done := make(chan struct{})
		go func() { c.until("response.completed"); close(done) }()
		for range 3 {
			time.Sleep(20 * time.Second)
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			if err := c.Ping(ctx); err != nil {
				t.Error(err)
			}
			cancel()
		}
		release()
		<-done
	})
}

// A turn that goes on after its client has left keeps no place of the key.
func TestAClientThatHasLeftHasNoConnection(t *testing.T) {
	inside(t, func(t *testing.T, g *rig) {
		release := make(chan struct{})
		g.turns(func(http.ResponseWriter, *http.Request, bool) { <-release })
		c := g.dial("a")
		c.create(`"input":"x"`)
		synctest.Wait()
		_ = c.CloseNow()
		synctest.Wait()
		if open := g.sockets.Open(); open != 0 {
			t.Errorf("%d connections are open", open)
		}
		close(release)
	})
}

func TestTooManyRefusedTurnsEndTheConnection(t *testing.T) {
	inside(t, func(t *testing.T, g *rig) {
		c := g.dial("a")
		for range maxSmall + 1 {
			c.create(`"previous_response_id":"resp_0","store":false`)
			c.wantError(400, "previous_response_not_found")
		}
		if code, _ := c.ended(); code != 1008 {
			t.Error(code)
		}
	})
}

func TestATurnThatWritesNothingIsAnError(t *testing.T) {
	inside(t, func(t *testing.T, g *rig) {
		c := g.dial("a")
		for _, status := range []int{0, 500} {
			g.turns(func(w http.ResponseWriter, _ *http.Request, _ bool) {
				if status > 0 {
					w.WriteHeader(status)
				}
			})
			c.create(`"input":"x"`)
			c.wantError(500, "internal")
		}
	})
}

func TestAWarmUpOfAnUnknownResponseIsRefused(t *testing.T) {
	inside(t, func(t *testing.T, g *rig) {
		c := g.dial("a")
		c.create(`"previous_response_id":"resp_0","generate":false`)
		c.wantError(400, "previous_response_not_found")
	})
}

// A process that stops waits for the connections of older configurations.
func TestAShutdownWaitsForOlderConfigurations(t *testing.T) {
	inside(t, func(t *testing.T, g *rig) {
		release := g.during()
		c := g.dial("a")
		c.create(`"input":"x"`)
		synctest.Wait()
		g.sockets.Replaced()
		go func() { time.Sleep(5 * time.Second); release() }()
		go func() { _, _ = c.ended() }()
		began := time.Now()
		NewSockets(g.process, socket.Limits{}, time.Now).Drain(t.Context())
		if took := time.Since(began); took < 5*time.Second {
			t.Errorf("it waited %s", took)
		}
	})
}

func TestAStateIsBoundedInItsSpareRoom(t *testing.T) {
	s := state{all: &states{most: 1 << 20}}
	if !s.add([]byte(`"12345678"`), 15) || s.add([]byte(`"1234"`), 15) {
		t.Errorf("%d bytes of %d", len(s.json), cap(s.json))
	}
}

// What was said before in a conversation is with its provider alone.
func TestAConversationOfTheProviderIsNotKept(t *testing.T) {
	inside(t, func(t *testing.T, g *rig) {
		c := g.dial("a")
		c.create(`"conversation":"conv_1","input":"x"`)
		c.until("response.completed")
		c.create(`"previous_response_id":"resp_1","input":"y"`)
		c.until("response.completed")
		g.wantBodies(`{"conversation":"conv_1","input":"x","stream":true}`, `{"previous_response_id":"resp_1","input":"y","stream":true}`)
	})
}
