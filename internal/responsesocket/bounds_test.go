package responsesocket

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
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
