package realtime

import (
	"net/http"
	"strings"
	"sync/atomic"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/socket"
)

// maxTranscripts is how many transcripts a session may wait for: a provider writes them in seconds.
const maxTranscripts = 64

// transcripts are the calls for what is written of what is said:
//
//	client    session.update {model}       the model is checked, and a call held: wanted
//	provider  session.updated {model}      it is the session's: wanted becomes held
//	provider  input_audio_buffer.committed something was said: held waits, the next one is held
//	provider  ….completed, ….failed        charged
//
// So what is said is charged by the model that the provider had then, whatever the client has asked
// for since. It is guarded by the mutex of the answers.
type transcripts struct {
	on      bool               // the session has a model for it
	model   heardModel         // that, or the last
	held    *answer            // the next one; nil if it could not be held
	wish    heardModel         // of wanted
	wanted  *answer            // nil: the client waits for none
	waiting map[string]*answer // by the item that was said
	commits int                // by the client, of which the provider has not said anything
	sound   atomic.Int64       // letters of base64 that were sent since the last commit
}

// heardModel is the name of a model as the client calls it and as the provider does.
type heardModel struct{ asked, name string }

// transcribe checks the model that a client wants for what is said, and holds a transcript by it.
// It returns the provider's name. The error is a refusal.
func (c *answers) transcribe(asked string) (name string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	h := &c.heard
	name = strings.TrimPrefix(asked, c.s.provider+"/")
	switch {
	case name == "" && !h.on && h.wanted == nil:
		return name, apierror.New(apierror.MissingParameter, "name its model")
	case name == "", h.on && h.model.name == name, h.wanted != nil && h.wish.name == name:
		return name, nil
	}
	a, err := c.holdHeard(name)
	if err != nil {
		return name, err
	}
	dropped(&h.wanted)
	h.wanted, h.wish = a, heardModel{asked, name}
	return name, nil
}

func (c *answers) holdHeard(name string) (*answer, error) {
	call, err := c.s.o.Calls.HoldTranscript(c.s.provider + "/" + name)
	if err != nil {
		return nil, err
	}
	return &answer{Call: call}, nil
}

// dropped gives up a call that has not begun.
func dropped(a **answer) {
	if *a != nil {
		(*a).finish(nil)
		*a = nil
	}
}

// hears notes the model that the provider has for what is said. It returns how the client calls it,
// and why the session ends, nil if it goes on.
func (c *answers) hears(name string, on bool) (asked string, end *socket.End) {
	c.mu.Lock()
	defer c.mu.Unlock()
	h := &c.heard
	switch {
	case !on:
		h.on = false
		dropped(&h.held)
	case h.on && (name == "" || name == h.model.name):
	case h.wanted != nil && (name == "" || name == h.wish.name):
		c.takeWish()
	default:
		a, err := c.holdHeard(name)
		switch {
		case err == nil:
			dropped(&h.held)
			h.on, h.held, h.model = true, a, heardModel{name, name}
		case h.wanted != nil && apierror.From(err).HTTPStatus() == http.StatusNotFound: // its own spelling
			c.takeWish()
		default:
			return name, endUnheard(err)
		}
	}
	return h.model.asked, nil
}

// takeWish makes the model that the client wants the session's. The mutex is held.
func (c *answers) takeWish() {
	h := &c.heard
	dropped(&h.held)
	h.on, h.held, h.model, h.wanted = true, h.wanted, h.wish, nil
}

func endUnheard(err error) *socket.End {
	e := apierror.From(err)
	return &socket.End{Code: 1008, Reason: "No more can be transcribed: " + e.Message, Told: e}
}

// commit notes that the client ends a turn. It is answered by committed, or refused.
func (c *answers) commit(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.heard.commits = max(0, c.heard.commits+n)
	c.checkQuiet()
}

// committed notes that something was said. It returns why the session ends, nil if it goes on.
func (c *answers) committed(item string) *socket.End {
	c.mu.Lock()
	defer c.mu.Unlock()
	h := &c.heard
	c.unsaid, h.commits = nil, max(0, h.commits-1)
	defer c.checkQuiet()
	sound := h.sound.Swap(0)
	if !h.on {
		return nil
	}
	if len(h.waiting) >= maxTranscripts {
		return endUnheard(apierror.New(apierror.WebSocketQueueFull, "%d transcripts are under way", maxTranscripts))
	}
	if end := c.nextHeard(); end != nil {
		return end
	}
	a := c.beginHeard()
	a.SetSound(1 + sound*soundMillis/soundOfToken)
	if same := h.waiting[item]; same != nil {
		same.finish(nil)
	}
	h.waiting[item] = a
	if !c.left {
		_ = c.nextHeard() // the next commit says why
	}
	return nil
}

// nextHeard holds the next transcript, unless there is one. The mutex is held.
func (c *answers) nextHeard() *socket.End {
	if c.heard.held != nil {
		return nil
	}
	a, err := c.holdHeard(c.heard.model.name)
	if err != nil {
		return endUnheard(err)
	}
	c.heard.held = a
	return nil
}

// beginHeard begins the transcript that is held. The mutex is held.
func (c *answers) beginHeard() *answer {
	a := c.heard.held
	c.heard.held, a.begun = nil, true
	_ = a.Begin() // no rate counts it
	return a
}

// transcribed charges a transcript. It returns why the session ends, nil if it goes on.
func (c *answers) transcribed(item string, sum openai.Summary, failure *apierror.Error) *socket.End {
	c.mu.Lock()
	defer c.mu.Unlock()
	h := &c.heard
	a := h.waiting[item]
	delete(h.waiting, item)
	if a == nil { // the provider has not said that it would write one
		if h.model.name == "" {
			return nil
		}
		if end := c.nextHeard(); end != nil {
			return end
		}
		a = c.beginHeard()
	}
	a.End(sum, failure != nil && !sum.HasUsage)
	a.finish(failure)
	c.checkQuiet()
	if c.left || !h.on {
		return nil
	}
	if end := c.nextHeard(); len(h.waiting) == 0 {
		return end
	}
	return nil
}
