package responsesocket

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
)

// A turn is a POST without what only sockets have.
func TestATurnIsAPostOfTheHandshake(t *testing.T) {
	inside(t, func(t *testing.T, g *rig) {
		c := g.dial("a")
		c.create(`"model":"m","input":"x","stream":false,"store":true`)
		c.until("response.completed")
		g.wantBodies(`{"model":"m","input":"x","store":true,"stream":true}`)
		h := g.headOf[0]
		if h.Get("Authorization") != "a" || h.Get("Originator") != "codex_exec" || h.Get("Content-Type") != "application/json" {
			t.Errorf("header %v", h)
		}
		for name := range h {
			if strings.HasPrefix(name, "Sec-") || name == "Upgrade" || name == "Connection" {
				t.Errorf("header %s", name)
			}
		}
	})
}

// What goes on from the newest response gets the whole conversation, as the client would send it.
func TestTheConversationIsSentAgain(t *testing.T) {
	inside(t, func(t *testing.T, g *rig) {
		c := g.dial("a")
		c.create(`"input":"one","instructions":"be nice"`)
		c.until("response.completed")
		c.create(`"previous_response_id":"resp_1","input":[{"n":2},{"n":3}],"store":false`)
		c.until("response.completed")
		c.create(`"previous_response_id":"resp_2"`)
		c.until("response.completed")
		c.create(`"input":[]`)
		c.until("response.completed")
		const first, said = `{"type":"message","role":"user","content":"one"}`, `{"type":"message","content":"hi"}`
		g.wantBodies(`{"input":"one","instructions":"be nice","stream":true}`,
			`{"input":[`+first+`,`+said+`,{"n":2},{"n":3}],"store":false,"stream":true}`,
			`{"input":[`+first+`,`+said+`,{"n":2},{"n":3},`+said+`],"stream":true}`, `{"input":[],"stream":true}`)
	})
}

// Codex sends its instructions in the warm-up alone.
func TestTheInputOfAWarmUpBelongsToTheNextTurn(t *testing.T) {
	inside(t, func(t *testing.T, g *rig) {
		c := g.dial("a")
		c.create(`"model":"m","input":[{"role":"developer"}],"generate":false,"store":false`)
		created := c.next()
		done := c.next()
		response, _ := done["response"].(map[string]any)
		id, _ := response["id"].(string)
		if created["type"] != "response.created" || done["type"] != "response.completed" || !strings.HasPrefix(id, "resp_") || response["model"] != "m" {
			t.Errorf("%v %v", created, done)
		}
		c.create(`"previous_response_id":"` + id + `","input":[{"role":"user"}],"store":false`)
		c.until("response.completed")
		g.wantBodies(`{"model":"m","input":[{"role":"developer"}],"store":false,"stream":true}`,
			`{"input":[{"role":"developer"},{"role":"user"}],"store":false,"stream":true}`)
	})
}

func TestAWarmUpMayBeRefused(t *testing.T) {
	inside(t, func(t *testing.T, g *rig) {
		g.turns(func(w http.ResponseWriter, _ *http.Request, _ bool) {
			refuse(w, apierror.New(apierror.ModelNotFound, "no model"))
		})
		c := g.dial("a")
		c.create(`"generate":false`)
		c.wantError(400, "model_not_found")
		for range maxWarmUps - 1 {
			c.create(`"generate":false`)
			c.wantError(400, "model_not_found")
		}
		c.create(`"generate":false`)
		c.wantError(429, "rate_limit_exceeded")
		time.Sleep(time.Minute)
		c = g.dial("a") // the other has answered no pings
		c.create(`"generate":false`)
		c.wantError(400, "model_not_found")
	})
}

func refuse(w http.ResponseWriter, e *apierror.Error) {
	w.Header().Set("X-Request-Id", "req_1")
	w.WriteHeader(e.HTTPStatus())
	_, _ = w.Write(openai.AppendError(nil, e))
}

// Of a response that is stored nowhere, and not the newest, nothing is known. Others may be known
// to the provider.
func TestAResponseThatIsNotTheNewest(t *testing.T) {
	inside(t, func(t *testing.T, g *rig) {
		c := g.dial("a")
		c.create(`"input":"one"`)
		c.until("response.completed")
		c.create(`"previous_response_id":"resp_0","input":"two","store":false`)
		if e := c.wantError(400, "previous_response_not_found"); e["error"].(map[string]any)["param"] != "previous_response_id" {
			t.Errorf("%v", e)
		}
		c.create(`"previous_response_id":"resp_1","input":"two","store":false`) // the failed turn has dropped it
		c.wantError(400, "previous_response_not_found")
		c.create(`"previous_response_id":"resp_0","input":"two"`)
		c.until("response.completed")
		g.wantBodies(`{"input":"one","stream":true}`, `{"previous_response_id":"resp_0","input":"two","stream":true}`)
		c.create(`"previous_response_id":"resp_2","input":"three","store":false`) // what was before it is not known here
		c.wantError(400, "previous_response_not_found")
	})
}

// Reasoning that nobody keeps cannot be sent back, unless it is encrypted.
func TestReasoningIsSentBackIfItCanBe(t *testing.T) {
	inside(t, func(t *testing.T, g *rig) {
		const plain, sealed = `{"type":"reasoning","id":"rs_1"}`, `{"type":"reasoning","encrypted_content":"abc"}`
		g.turns(func(w http.ResponseWriter, _ *http.Request, _ bool) { say(w, "resp_x", plain, sealed) })
		c := g.dial("a")
		c.create(`"input":[],"store":false`)
		c.until("response.completed")
		c.create(`"previous_response_id":"resp_x","store":false`)
		c.until("response.completed")
		c.create(`"input":[]`)
		c.until("response.completed")
		c.create(`"previous_response_id":"resp_x"`)
		c.until("response.completed")
		if got, want := canonical(t, g.bodyOf[1]), `{"input":[{"encrypted_content":"abc","type":"reasoning"}],"store":false,"stream":true}`; got != want {
			t.Error(got)
		}
		if !strings.Contains(g.bodyOf[3], "rs_1") {
			t.Error(g.bodyOf[3])
		}
	})
}

// A refusal that no repetition can change is 400, or Codex repeats it twelve times. Others are as
// they are, with their wait where each client reads it.
func TestARefusalIsAnEvent(t *testing.T) {
	inside(t, func(t *testing.T, g *rig) {
		c := g.dial("a")
		for code, status := range map[apierror.Code]float64{
			apierror.BudgetExceeded: 400, apierror.InvalidAPIKey: 400, apierror.InsufficientScope: 400, apierror.ModelNotFound: 400,
			apierror.RequestTooLarge: 400, apierror.GuardrailBlocked: 400, apierror.InvalidValue: 400, apierror.RateLimitExceeded: 429,
			apierror.UpstreamError: 502, apierror.ShuttingDown: 503, apierror.Internal: 500,
		} {
			g.turns(func(w http.ResponseWriter, _ *http.Request, _ bool) {
				w.Header().Set("Retry-After", "3")
				refuse(w, apierror.New(code, "no"))
			})
			c.create(`"input":[]`)
			e := c.wantError(status, string(code))
			for _, h := range []any{e["headers"], e["error"].(map[string]any)["headers"]} {
				if h, _ := h.(map[string]any); h["retry-after"] != "3" || h["x-request-id"] != "req_1" {
					t.Errorf("%v", e)
				}
			}
		}
		g.turns(nil)
		c.create(`"input":[]`) // the connection goes on
		c.until("response.completed")
	})
}

// The events of a stream that fails, as the gateway writes them, and one that says nothing at all.
func TestAFailureIsToldOnceAndWithItsStatus(t *testing.T) {
	inside(t, func(t *testing.T, g *rig) {
		c := g.dial("a")
		failure := string(openai.AppendResponsesError(nil, 1, apierror.New(apierror.UpstreamTimeout, "silent")))
		for name, turn := range map[string]string{
			"failed": event("response.failed", `{"type":"response.failed"}`) + failure,
			"error":  failure,
			"cut":    event("response.created", `{"type":"response.created"}`),
		} {
			g.turns(func(w http.ResponseWriter, _ *http.Request, _ bool) { _, _ = io.WriteString(w, turn) })
			c.create(`"input":"x"`)
			switch name {
			case "failed":
				c.until("response.failed")
			case "error":
				c.wantError(502, "upstream_timeout")
			default:
				c.wantError(500, "internal")
			}
			c.create(`"previous_response_id":"resp_1","store":false`) // neither is kept, and no event is left
			if e := c.next(); e["type"] != "error" || e["error"].(map[string]any)["code"] != "previous_response_not_found" {
				t.Errorf("%s: %v", name, e)
			}
		}
	})
}

// A comment keeps an HTTP stream alive, a frame this one: clients count frames, and no pings.
func TestACommentIsAFrame(t *testing.T) {
	inside(t, func(t *testing.T, g *rig) {
		g.turns(func(w http.ResponseWriter, _ *http.Request, _ bool) {
			_, _ = io.WriteString(w, ": keep-alive\n\n")
			w.(http.Flusher).Flush()
			say(w, "resp_1")
		})
		c := g.dial("a")
		c.create(`"input":"x"`)
		if e := c.next(); e["type"] != "keepalive" {
			t.Errorf("%v", e)
		}
		c.until("response.completed")
	})
}

func TestEventsWaitForTheTurn(t *testing.T) {
	inside(t, func(t *testing.T, g *rig) {
		release := make(chan struct{})
		g.turns(func(w http.ResponseWriter, _ *http.Request, _ bool) { <-release; say(w, "resp_1") })
		c := g.dial("a")
		for range 1 + maxQueued {
			c.create(`"input":"x"`)
		}
		c.create(`"input":"y"`)
		if e := c.wantError(429, "websocket_queue_full"); e["headers"].(map[string]any)["retry-after"] != "1" {
			t.Errorf("%v", e)
		}
		close(release)
		for range 1 + maxQueued {
			c.until("response.completed")
		}
		c.create(`"input":"z"`)
		c.until("response.completed")
		if len(g.bodyOf) != 2+maxQueued {
			t.Errorf("turns %q", g.bodyOf)
		}
	})
}

// What waits is bounded in bytes, too.
func TestWhatWaitsIsBounded(t *testing.T) {
	inside(t, func(t *testing.T, g *rig) {
		g.maxBody = 1000
		release := make(chan struct{})
		g.turns(func(w http.ResponseWriter, _ *http.Request, _ bool) { <-release; say(w, "resp_1") })
		c := g.dial("a")
		large := `"input":"` + strings.Repeat("x", 600) + `"`
		for range 3 {
			c.create(large)
		}
		c.wantError(429, "websocket_queue_full")
		close(release)
		c.until("response.completed")
		c.until("response.completed")
	})
}

// A client that leaves ends its turn, however it leaves: with a Close, or without one as Codex
// does.
func TestAClientThatLeavesEndsItsTurn(t *testing.T) {
	inside(t, func(t *testing.T, g *rig) {
		ended := make(chan struct{}, 1)
		g.turns(func(_ http.ResponseWriter, r *http.Request, _ bool) { <-r.Context().Done(); ended <- struct{}{} })
		for _, leave := range []func(*client){
			func(c *client) { _ = c.raw.Close() },
			func(c *client) { _ = c.CloseNow() },
			func(c *client) { _ = c.Close(1000, "") },
		} {
			c := g.dial("a")
			c.create(`"input":"x"`)
			c.create(`"input":"waits"`)
			synctest.Wait()
			leave(c)
			<-ended
		}
		synctest.Wait()
		if len(g.bodyOf) != 3 {
			t.Errorf("turns %q", g.bodyOf)
		}
	})
}

func TestABugEndsTheConnectionAndNotTheProcess(t *testing.T) {
	inside(t, func(t *testing.T, g *rig) {
		g.turns(func(http.ResponseWriter, *http.Request, bool) { panic("bug") })
		c := g.dial("a")
		c.create(`"input":"x"`)
		c.wantError(500, "internal")
		if code, reason := c.ended(); code != 1011 || !strings.Contains(reason, "failed") {
			t.Error(code, reason)
		}
	})
}
