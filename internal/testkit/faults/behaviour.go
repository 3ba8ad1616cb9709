package faults

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/answers"
)

type (
	object = answers.Object
	event  = answers.Event
)

// behaviour says in what an answer differs from a good one. The zero value is a
// good answer.
type behaviour struct {
	about string

	refuses func(*call) bool      // 400 if so
	answer  func(*call) script    // stands in for all of the following
	reply   func(*call)           // changes what is said
	usage   func(*call)           // changes what is reported as used, or when
	object  func(object) object   // changes each JSON object of the answer
	stream  func([]event) []event // changes the events of a stream
	frame   func([]byte) []byte   // changes the bytes of an event
	split   func([]byte) [][]byte // the writes of an event, or of a whole answer
	course  course
	gzip    bool

	wrongType bool
	header    map[string]string

	// From the argument of the name.
	name       string // as asked for, the id of its gate
	status     int
	code       string
	events     int // always streams this many
	at         int // events before the course leaves the good path
	pause      time.Duration
	first      int    // calls with this behaviour; those after it get a good answer
	retryAfter string // in place of the usual one; "none": without
}

// course is where an answer leaves the good path. All but step and what happens
// before the first piece of text happen after the second one, or after at events.
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
	courseEmpty
	courseStall
	courseStep
	courseDelayed
	courseHang
	courseLate
	courseOverloaded
)

var behaviours = map[string]behaviour{
	"echo":            {about: "a good answer that repeats the last user message"},
	"null-fields":     {about: "optional fields are there as null", object: nullFields},
	"sloppy":          {about: "no id, object, created, index or role", object: sloppy},
	"float-created":   {about: "created is a number with a fraction", object: floatCreated},
	"no-usage":        {about: "no usage, asked for or not", usage: usageNever, object: noUsage},
	"usage-all":       {about: "usage says that all allowed output was used", usage: usesLimit(1)},
	"usage-more":      {about: "usage says that twice the allowed output was used", usage: usesLimit(2)},
	"usage-zero":      {about: "usage says that nothing was used", usage: usesNothing},
	"usage-inline":    {about: "usage in the chunk with the finish reason", usage: usageAlways, stream: usageInline},
	"usage-each":      {about: "cumulative usage in every chunk", usage: usageAlways, stream: usageEach},
	"usage-always":    {about: "a usage chunk though nobody asked", usage: usageAlways, stream: noNullUsage},
	"no-done":         {about: "a whole stream without [DONE] or message_stop", stream: withoutDone},
	"done":            {about: "[DONE] also after events of Responses and messages", stream: withDone},
	"finish-eos":      {about: "finish reason eos", reply: finishes("eos")},
	"length":          {about: "finish reason length; response.incomplete", reply: finishes("length")},
	"content-filter":  {about: "finish reason content_filter; response.incomplete", reply: finishes("content_filter")},
	"crlf":            {about: "lines end in CR LF", frame: replaces("\n", "\r\n")},
	"no-space":        {about: "data: without the space", frame: replaces("data: ", "data:", "event: ", "event:")},
	"comments":        {about: "a comment before every event", frame: commented},
	"role-each":       {about: "role in every delta", object: roleEach},
	"empty-deltas":    {about: "an empty delta before every piece of text", stream: emptyDeltas},
	"id-changes":      {about: "every chunk has another id", stream: idChanges},
	"unicode-split":   {about: "writes end inside a multi-byte character", reply: says(UnicodeText), split: inRunes},
	"byte-wise":       {about: "one byte a write", split: inBytes},
	"huge":            {about: "2 MB of text (32 events when streamed)", reply: saysHuge},
	"huge-chunk":      {about: "one line of 1 MB", reply: saysHugeChunk},
	"gzip":            {about: "compressed, accepted or not", gzip: true},
	"no-stream":       {about: "never a stream", reply: func(c *call) { c.Stream = false }},
	"cut-mid-stream":  {about: "the connection closes inside the body (unexpected EOF)", course: courseAbort},
	"cut-reset":       {about: "the connection is reset inside the body", course: courseReset},
	"cut-clean":       {about: "the body ends cleanly, the answer does not: no finish reason, no [DONE]", course: courseCutClean},
	"no-answer":       {about: "the connection closes before the status line", answer: closesAtOnce},
	"err-mid-stream":  {about: "an error event, then the end", course: courseError},
	"err-first-event": {about: "an error event as the only one", course: courseErrorFirst},
	"response-failed": {about: "response.failed; in a chat stream as err-mid-stream", course: courseFailed},
	"malformed":       {about: "an event that is not JSON; without stream half a JSON body", course: courseMalformed},
	"unknown-event":   {about: "an event of a type that no list has (Responses, messages)", stream: unknownEvent},
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
	"reasoning":       {about: "reasoning before the text", reply: reasons},
	"refusal":         {about: "a refusal instead of text", reply: refuses},
	"tools":           {about: "two parallel tool calls, fragments interleaved; text once a tool has answered", reply: callsTwo},
	"agent":           {about: "calls the tool that the prompt names, as in: use NAME ARGUMENTS; then repeats what the tool said", reply: actsAsAgent},

	"hang":         {about: "accepts and says nothing, not even a status line, until a token or the client's end", course: courseHang},
	"late":         {about: "all up to the first piece of text, then silence as stall", course: courseLate},
	"reset":        {about: "the connection is reset before the status line", answer: resetsAtOnce},
	"overloaded":   {about: "200 and the first event, then that it is overloaded; without stream 529 or 503", course: courseOverloaded},
	"spend-cap":    {about: "429 without Retry-After: the account has no more money", answer: spendCapScript},
	"too-long":     {about: "400: the prompt is longer than the context", answer: tooLongScript},
	"azure-filter": {about: "400 as Azure's content filter says it", answer: azureFilterScript},
	"no-prefill":   {about: "400 if the assistant has the last word, else a good answer", refuses: prefilled},
	"cache-usage":  {about: "usage with tokens read from the cache and written for both times", reply: usesCache},

	// These differ in the Messages API only.
	"no-event-lines":    {about: "events without the line event:", stream: unnamed},
	"pings":             {about: "a ping before every event", stream: pinged},
	"redacted-thinking": {about: "reasoning that nobody can read", reply: redacts},
	"stop-sequence":     {about: "ends at the stop sequence " + StopSequence, reply: stopsAt},
	"pause-turn":        {about: "stop reason pause_turn", reply: finishesMessage("pause_turn")},
	"context-window":    {about: "stop reason model_context_window_exceeded", reply: finishesMessage("model_context_window_exceeded")},
	"hosted-tools":      {about: "a search on the web before the text, which cites it", reply: searches},
	"unknown-block":     {about: "a block of a type that no list has, before the text", reply: unknownBlock},

	"err":    {answer: statusScript},
	"cut":    {course: courseAbort},
	"silent": {course: courseStall},
	"paced":  {reply: saysWords},
	"burst":  {reply: saysWords},
}

// Behaviours returns the model names that need no argument, sorted.
func Behaviours() (names []string) {
	for name, b := range behaviours {
		if b.about != "" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Bounds on what a model name may ask for: a mistyped name must not fill memory.
const (
	maxEvents  = 10_000
	maxPauseMS = 600_000
)

// agentSuffix ends the names of models that behave as "agent": coding clients
// offer other tools to models whose names begin in a way that they know.
const agentSuffix = "-agent"

// behaviourOf finds the behaviour that a model name asks for.
func behaviourOf(model string) (behaviour, bool) {
	name := model[strings.LastIndexByte(model, '/')+1:]
	name, _, _ = strings.Cut(name, ":")
	b, ok := behaviours[name]
	b.name = name
	if ok {
		return b, b.about != ""
	}
	if wrapped, is := wrapped(name); is {
		return wrapped, wrapped.name != ""
	}
	if strings.HasSuffix(name, agentSuffix) {
		b = behaviours["agent"]
		b.name = name
		return b, true
	}
	for _, base := range []string{"delayed-headers", "err", "step", "stall", "hang", "late", "cut", "silent", "paced", "burst"} {
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

// wrapped is the behaviour of the names first-N-NAME and after-S-NAME, without a
// name if it is none.
func wrapped(name string) (b behaviour, is bool) {
	kind, rest, _ := strings.Cut(name, "-")
	if kind != "first" && kind != "after" {
		return b, false
	}
	arg, inner, _ := strings.Cut(rest, "-")
	b, ok := behaviourOf(inner)
	n, err := strconv.Atoi(arg)
	switch {
	case !ok || b.first > 0: // only the outermost name counts calls
		return behaviour{}, true
	case kind == "first" && err == nil && n > 0:
		b.first = n
	case kind == "after" && (arg == "none" || err == nil && n >= 0):
		b.retryAfter = arg
	default:
		return behaviour{}, true
	}
	b.name = name
	return b, true
}

func (b *behaviour) argument(base, arg string) bool {
	first, rest, two := strings.Cut(arg, "-")
	n, err := strconv.Atoi(first)
	switch base {
	case "step", "stall", "hang", "late":
		return true
	case "cut":
		ends := map[string]course{"": courseAbort, "reset": courseReset, "clean": courseCutClean}
		end, known := ends[rest]
		b.at, b.course = n, end
		return err == nil && known && n >= 1 && n <= maxEvents
	case "silent":
		b.at = n
		return err == nil && n >= 1 && n <= maxEvents
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
