package guardrail

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/guardrail/document"
)

const (
	// defaultHookTimeout is how long a webhook has that names no time.
	defaultHookTimeout = 2 * time.Second

	// MaxHookTexts and MaxHookText bound what a webhook is sent: how many
	// texts, and how many bytes of them. A body with more never passes.
	MaxHookTexts = 10000
	MaxHookText  = 8 << 20

	// maxHookAnswer bounds what it may answer, in bytes; maxRedactions and
	// maxHookClasses how much it may take out.
	maxHookAnswer  = 1 << 20
	maxRedactions  = 10000
	maxHookClasses = 64

	// maxHookInFlight is how many questions a webhook has open at once: each
	// holds up to MaxHookText, written as JSON.
	maxHookInFlight = 32
)

// Webhook is an outside moderator. It is asked once for each body, after the
// rules, with what they left of the texts:
//
//	POST <URL>
//	Content-Type: application/json
//
//	{"guardrail": "<name>", "direction": "input" | "output",
//	 "texts": [{"where": "messages", "text": "…"}, …]}
//
// where `where` is the member of the body that the text is in. It answers with
// status 200 and
//
//	{"action": "allow" | "deny" | "redact", "class": "…",
//	 "redactions": [{"text": 0, "start": 4, "end": 10, "class": "…"}, …]}
//
// A class is 1 to 32 small letters, digits, dashes or underscores, and what
// the caller is told; without one it is "webhook". Redactions name a text by
// its place in the list, and a stretch of it in characters (Unicode code
// points), the end not included; there are 1 to 10,000 of at most 64 classes.
// All else is a failure: another status, a redirect, no answer in time, an
// answer that does not parse or is too long. So is a wait of that time while
// 32 other questions are open.
//
// A body with more than [MaxHookTexts] or [MaxHookText] is not asked about and
// does not pass, whatever FailOpen says: it is the caller who chooses its size.
//
// A stream cannot be judged before it ends, and what was sent cannot be taken
// back. So a webhook on output reads whole answers only, and has to say, by
// RefuseStreams, that calls for a stream are to be refused under it.
type Webhook struct {
	// URL is where it is asked, http or https. Its secret, if it has one,
	// belongs into Header.
	URL string

	// Header is added to each request. Optional.
	Header http.Header

	// Timeout is how long inFlight may take, all in all. Default: 2s.
	Timeout time.Duration

	// FailOpen lets a body pass when the webhook fails; otherwise the call
	// fails with a [*WebhookError].
	FailOpen bool

	// RefuseStreams is needed on output, and means nothing on input alone.
	RefuseStreams bool

	// Transport carries the requests. Redirects are not followed. Required.
	Transport http.RoundTripper

	inFlight chan struct{} // a place for each open question
}

// WebhookError says that a webhook failed which fails closed. It is no fault
// of the caller, and may be over soon (503).
type WebhookError struct {
	Guardrail string
	Err       error // for the log
}

func (e *WebhookError) Error() string {
	return fmt.Sprintf("webhook of guardrail %q: %v", e.Guardrail, e.Err)
}

func (e *WebhookError) Unwrap() error { return e.Err }

// HookLimitError says that a body has more than [MaxHookTexts] or [MaxHookText],
// so that a webhook could not be asked about it. In a request that is the
// caller's mistake (413), in an answer the provider's (502).
type HookLimitError struct {
	Guardrail string
	Direction Direction
}

func (e *HookLimitError) Error() string {
	return fmt.Sprintf("webhook of guardrail %q: the %v has more than %d texts or %d bytes of them", e.Guardrail, e.Direction, MaxHookTexts, MaxHookText)
}

// check fills in what is not given.
func (w *Webhook) check(on Direction) error {
	u, err := url.Parse(w.URL)
	switch {
	case err != nil:
		return errors.New("its URL does not parse")
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return errors.New("its URL is not of the form https://host/path")
	case w.Transport == nil:
		return errors.New("it has no transport")
	case w.Timeout < 0:
		return fmt.Errorf("a timeout of %v", w.Timeout)
	case on&Output != 0 && !w.RefuseStreams:
		return errors.New("it cannot judge a stream before it ends: on output, streams have to be refused")
	}
	if w.Timeout == 0 {
		w.Timeout = defaultHookTimeout
	}
	w.inFlight = make(chan struct{}, maxHookInFlight)
	return nil
}

// hookText is one text that a webhook is sent.
type hookText struct {
	Where string `json:"where"`
	Text  string `json:"text"`

	at document.Span // the string value in the body
}

// hookRequest and hookAnswer are what goes over the wire.
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

	rule int // of its class
}

var classForm = regexp.MustCompile(`^[a-z0-9_-]{1,32}$`)

// hookClass is the class a webhook gave, or the one that stands for any.
func hookClass(class string) string {
	if classForm.MatchString(class) {
		return class
	}
	return "webhook"
}
