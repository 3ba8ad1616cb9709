package fake

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// behaviour says in what an answer differs from a good one. The zero value is a
// good answer.
type behaviour struct {
	about string

	// The shape of the JSON.
	nulls, sloppy, floatCreated, roleEach, emptyDeltas, idChanges bool

	usage  usageMode
	finish string // finish reason; "" is the right one
	noDone bool
	done   bool // [DONE] after Responses events, which OpenAI does not send
	reply  replyKind

	// The framing of the event stream.
	crlf, noSpace, comments, gzip, splitRunes, byteWise, wrongType bool

	course course

	// answer, where set, stands in for all of the above.
	answer func(*call) script
	// canned chat answers are made once and kept.
	canned bool

	header map[string]string

	// From the argument of the name.
	name   string // as asked for, the id of its gate
	status int
	code   string
	events int
	pause  time.Duration
}

type usageMode int

const (
	usageAsAsked usageMode = iota
	usageNever
	usageInline // in the chunk with the finish reason
	usageEach   // cumulative, in every chunk
	usageAlways // asked for or not
	usageAll    // as asked; all of max_tokens was used
	usageMore   // as asked; twice of it was used
	usageZero   // as asked; nothing was used
)

type replyKind int

const (
	replyText replyKind = iota
	replyUnicode
	replyHuge
	replyHugeChunk
	replyReasoning
	replyTools
	replyAgent
	replyRefusal
)

// course is where a stream leaves the good path. All but step and the endings
// before the first event happen after the second piece of text.
type course int

const (
	courseWhole course = iota
	courseAbort
	courseReset
	courseCutClean
	courseError
	courseErrorFirst
	courseFailed
	courseMalformed
	courseUnknownEvent
	courseEmpty
	courseStall
	courseStep
	courseDelayed
	courseNoAnswer
)

var behaviours = map[string]behaviour{
	"echo":            {about: "a good answer that repeats the last user message"},
	"null-fields":     {about: "optional fields are there as null", nulls: true},
	"sloppy":          {about: "no id, object, created, index or role", sloppy: true},
	"float-created":   {about: "created is a number with a fraction", floatCreated: true},
	"no-usage":        {about: "no usage, asked for or not", usage: usageNever},
	"usage-all":       {about: "usage says that all allowed output was used", usage: usageAll},
	"usage-more":      {about: "usage says that twice the allowed output was used", usage: usageMore},
	"usage-zero":      {about: "usage says that nothing was used", usage: usageZero},
	"usage-inline":    {about: "usage in the chunk with the finish reason", usage: usageInline},
	"usage-each":      {about: "cumulative usage in every chunk", usage: usageEach},
	"usage-always":    {about: "a usage chunk though nobody asked", usage: usageAlways},
	"no-done":         {about: "a whole stream without [DONE]", noDone: true},
	"done":            {about: "[DONE] also after Responses events", done: true},
	"finish-eos":      {about: "finish reason eos", finish: "eos"},
	"length":          {about: "finish reason length; response.incomplete", finish: "length"},
	"content-filter":  {about: "finish reason content_filter; response.incomplete", finish: "content_filter"},
	"crlf":            {about: "lines end in CR LF", crlf: true},
	"no-space":        {about: "data: without the space", noSpace: true},
	"comments":        {about: "a comment before every event", comments: true},
	"role-each":       {about: "role in every delta", roleEach: true},
	"empty-deltas":    {about: "an empty delta before every piece of text", emptyDeltas: true},
	"id-changes":      {about: "every chunk has another id", idChanges: true},
	"unicode-split":   {about: "writes end inside a multi-byte character", reply: replyUnicode, splitRunes: true},
	"byte-wise":       {about: "one byte a write", byteWise: true},
	"huge":            {about: "8 MB of text (128 events when streamed)", reply: replyHuge},
	"huge-chunk":      {about: "one line of 1 MB", reply: replyHugeChunk},
	"gzip":            {about: "compressed, accepted or not", gzip: true},
	"cut-mid-stream":  {about: "the connection closes inside the body (unexpected EOF)", course: courseAbort},
	"cut-reset":       {about: "the connection is reset inside the body", course: courseReset},
	"cut-clean":       {about: "the body ends cleanly, the answer does not: no finish reason, no [DONE]", course: courseCutClean},
	"no-answer":       {about: "the connection closes before the status line", course: courseNoAnswer},
	"err-mid-stream":  {about: "an error event, then the end", course: courseError},
	"err-first-event": {about: "an error event as the only one", course: courseErrorFirst},
	"response-failed": {about: "response.failed; in chat as err-mid-stream", course: courseFailed},
	"malformed":       {about: "an event that is not JSON; without stream half a JSON body", course: courseMalformed},
	"unknown-event":   {about: "an event of a type that no list has (Responses)", course: courseUnknownEvent},
	"empty":           {about: "200 with nothing in it", course: courseEmpty},
	"stall":           {about: "two pieces of text, then silence until a token or the client's end", course: courseStall},
	"step":            {about: "one event a token; the first is free", course: courseStep},
	"delayed-headers": {about: "nothing at all for a second", course: courseDelayed, pause: time.Second},
	"redirect-307":    {about: "307 to " + redirectPrefix + " on this server", answer: redirectScript},
	"leaky-headers":   {about: "headers about the provider's account and machines", header: leakyHeaders},
	"html-502":        {about: "502 with a page", answer: htmlScript(502)},
	"not-json-200":    {about: "200 with a page", answer: htmlScript(200)},
	"wrong-type-200":  {about: "a good answer under a wrong Content-Type", wrongType: true},
	"error-200":       {about: "200 with an error body", answer: error200Script},
	"reasoning":       {about: "thoughts before the text", reply: replyReasoning},
	"refusal":         {about: "a refusal instead of text", reply: replyRefusal},
	"tools":           {about: "two parallel tool calls, fragments interleaved; text once a tool has answered", reply: replyTools},
	"agent":           {about: "calls the tool that the prompt names, as in: use NAME ARGUMENTS; then repeats what the tool said", reply: replyAgent},
	"bench":           {about: "a 1 KB chat answer made beforehand, never streamed", canned: true},
	"err":             {answer: statusScript},
	"paced":           {canned: true},
	"burst":           {canned: true},
}

// Behaviours returns the model names that need no argument, sorted, each with
// what it does.
func Behaviours() (names []string, about map[string]string) {
	about = make(map[string]string)
	for name, b := range behaviours {
		if b.about != "" {
			about[name] = b.about
		}
	}
	return slices.Sorted(maps.Keys(about)), about
}

// Bounds on what a model name may ask for: a typing error shall not fill memory.
const (
	maxEvents  = 10_000
	maxPauseMS = 600_000
)

// behaviourOf finds the behaviour that a model name asks for.
func behaviourOf(model string) (behaviour, bool) {
	name := model[strings.LastIndexByte(model, '/')+1:]
	name, _, _ = strings.Cut(name, ":")
	b, ok := behaviours[name]
	b.name = name
	if ok {
		return b, b.about != ""
	}
	if strings.HasSuffix(name, agentSuffix) {
		b = behaviours["agent"]
		b.name = name
		return b, true
	}
	for _, base := range []string{"delayed-headers", "err", "step", "stall", "paced", "burst"} {
		arg, ok := strings.CutPrefix(name, base+"-")
		if !ok || arg == "" {
			continue
		}
		b = behaviours[base]
		b.name = name
		return b, b.argument(base, arg)
	}
	return behaviour{}, false
}

func (b *behaviour) argument(base, arg string) bool {
	first, rest, two := strings.Cut(arg, "-")
	n, err := strconv.Atoi(first)
	switch base {
	case "step", "stall":
		return true
	case "err":
		b.status, b.code = n, rest
		return err == nil && n >= 400 && n <= 599 && two == (rest != "")
	case "delayed-headers":
		b.pause = time.Duration(n) * time.Millisecond
		return err == nil && !two && n >= 0 && n <= maxPauseMS
	case "burst":
		b.events = n
		return err == nil && !two && n >= 1 && n <= maxEvents
	default: // paced
		ms, err2 := strconv.Atoi(rest)
		b.events, b.pause = n, time.Duration(ms)*time.Millisecond
		return err == nil && err2 == nil && n >= 1 && n <= maxEvents && ms >= 0 && ms <= maxPauseMS
	}
}
