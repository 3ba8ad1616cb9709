package judge

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/guardrail"
	"github.com/gatehouse-proxy/gatehouse/internal/guardrail/document"
)

const (
	// defaultHookTimeout is the default of Webhook.Timeout.
	defaultHookTimeout = 2 * time.Second

	// maxHookAnswer is how many bytes a webhook may answer, maxRedactions how many redactions, and
	// maxHookClasses how many classes.
	maxHookAnswer  = 1 << 20
	maxRedactions  = 10000
	maxHookClasses = 64

	// maxHookInFlight is how many requests to a webhook are open at once. Each holds up to
	// MaxHookText as JSON.
	maxHookInFlight = 32
)

// Webhook is an external moderator. It is asked once for each body, with the texts as the rules
// have left them:
//
//	POST <URL>
//	Content-Type: application/json
//
//	{"guardrail": "<name>", "direction": "input" | "output",
//	 "texts": [{"where": "messages", "text": "…"}, …]}
//
// where `where` is the member of the body that contains the text. It answers with status 200 and
//
//	{"action": "allow" | "deny" | "redact", "class": "…",
//	 "redactions": [{"text": 0, "start": 4, "end": 10, "class": "…"}, …]}
//
// A class is 1 to 32 lower-case letters, digits, dashes or underscores. It is shown to the caller;
// the default is "webhook". A redaction names a text by its index in the list, and a range of it in
// characters (Unicode code points) with an exclusive end. There may be 1 to 10,000 redactions of at
// most 64 classes.
//
// Everything else is a failure: another status, a redirect, no answer in time, an answer that does
// not parse or is too long. If 32 requests are open, the wait for one of them counts against the
// time.
//
// A body with more than [MaxHookTexts] or [MaxHookText] is refused without a request, even with
// FailOpen, because the caller chooses its size.
//
// A webhook cannot judge a stream before its end, and what was sent cannot be taken back. So a
// webhook on output reads whole answers only, and needs RefuseStreams.
type Webhook struct {
	// URL is http or https. A secret belongs in Header instead.
	URL string

	// Header is added to each request. Optional.
	Header http.Header

	// Timeout is for the whole request. Default: 2s.
	Timeout time.Duration

	// FailOpen lets a body pass if the webhook fails. Otherwise the call fails with a
	// [*guardrail.WebhookError].
	FailOpen bool

	// RefuseStreams refuses calls that ask for a stream. It is required on output and has no effect
	// on input alone.
	RefuseStreams bool

	// Transport sends the requests. Redirects are not followed. Required.
	Transport http.RoundTripper

	inFlight chan struct{} // a semaphore for open requests
}

// check validates the configuration and sets defaults.
func (w *Webhook) check(on guardrail.Direction) error {
	u, err := url.Parse(w.URL)
	switch {
	case err != nil:
		return errors.New("the URL does not parse")
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return errors.New("the URL must have the form https://host/path")
	case w.Transport == nil:
		return errors.New("no transport is set")
	case w.Timeout < 0:
		return fmt.Errorf("timeout %v: want more than 0", w.Timeout)
	case on&guardrail.Output != 0 && !w.RefuseStreams:
		return errors.New("on output it needs refuse_streams, because it cannot judge a stream before its end")
	}
	if w.Timeout == 0 {
		w.Timeout = defaultHookTimeout
	}
	w.inFlight = make(chan struct{}, maxHookInFlight)
	return nil
}

// hookText is one text in a request to a webhook.
type hookText struct {
	Where string `json:"where"`
	Text  string `json:"text"`

	at document.Span // the string value in the body
}

// hookRequest and hookAnswer are the bodies of the request and the answer.
type hookRequest struct {
	Guardrail string     `json:"guardrail"`
	Direction string     `json:"direction"`
	Texts     []hookText `json:"texts"`
}

type hookAnswer struct {
	Action     string      `json:"action"`
	Class      string      `json:"class"`
	Redactions []redaction `json:"redactions"`
}

type redaction struct {
	Text  int    `json:"text"`
	Start int    `json:"start"`
	End   int    `json:"end"`
	Class string `json:"class"`

	rule int // the rule of its class
}

var classForm = regexp.MustCompile(`^[a-z0-9_-]{1,32}$`)

// hookClass returns the class that a webhook answered, or the default.
func hookClass(class string) string {
	if classForm.MatchString(class) {
		return class
	}
	return "webhook"
}
