package document

import (
	"bytes"
	"slices"
	"strings"
)

// place is members of objects whose values are not read where they have a
// shape. All else is read: a member that stands elsewhere, or is spelled
// otherwise, or has another shape.
type place struct {
	shape shape
	in    []string // paths of the objects, keys that dots join; "" for the top
	keys  string   // the members, or paths from there on, with blanks between
}

// shape is what a value must look like to pass unread.
type shape uint8

const (
	unlisted     shape = iota
	anything           // any string
	aWord              // of a closed set
	anIdentifier       // as a caller tells it: has a letter and a digit, no blank
	givenOut           // an identifier as a provider gives it out: no blank
	aName              // of a model and the like: no blank
	inBase64           // base64, alone or in a data URL
	inPieces           // base64 of any length, as a stream brings it
	anImage            // an image in base64, where a text may stand too
)

var (
	atTop = []string{""}

	// requestPlaces are those of requests.
	requestPlaces = slices.Concat([]place{
		{anything, atTop, "model"}, // the gateway knows it
		{aName, atTop, "models"},
		{aWord, atTop, "include modalities service_tier tools.type tool_choice tool_choice.type response_format.type text.format.type prediction.type"},
		{anIdentifier, atTop, "previous_response_id conversation conversation.id prompt.id session_id safety_identifier prompt_cache_key"},
	}, placesOf(anIdentifier, []string{"messages"}, []string{"input"}, []string{"messages.content", "prediction.content"}))

	// answerPlaces are those of whole answers and of events.
	answerPlaces = slices.Concat([]place{
		{anything, atTop, "model response.model"},
		{aName, atTop, "system_fingerprint choices.native_finish_reason obfuscation"},
		{aWord, atTop, "object type status service_tier choices.finish_reason error.type annotation.type response.object response.status response.service_tier"},
		{givenOut, atTop, "id item_id response_id annotation.file_id annotation.container_id response.id"},
		{inBase64, atTop, "partial_image_b64"},
	}, placesOf(givenOut, []string{"choices.message", "choices.delta"}, []string{"output", "item", "response.output"}, []string{"part", "choices.message.content", "choices.delta.content"}), []place{
		{inPieces, atTop, "choices.delta.audio.data"},
	})
)

// placesOf are the places in chat messages, in the items of Responses, and in
// the parts of either, with identifiers of that shape; those of items are added
// to parts.
func placesOf(identifier shape, messages, items, parts []string) []place {
	for _, item := range items {
		parts = append(parts, item+".content", item+".summary", item+".output")
	}
	return []place{
		{aWord, messages, "role tool_calls.type reasoning_details.type annotations.type images.type"},
		{identifier, messages, "id tool_call_id tool_calls.id audio.id reasoning_details.id"},
		{inBase64, messages, "audio.data reasoning_details.data reasoning_details.signature images.image_url images.image_url.url tool_calls.extra_content.google.thought_signature"},

		{aWord, items, "type role status action.type outputs.type"},
		{identifier, items, "id call_id approval_request_id container_id results.file_id"},
		{inBase64, items, "encrypted_content outputs.url"},
		{anImage, items, "result"},

		{aWord, parts, "type detail image_url.detail annotations.type"},
		{identifier, parts, "id file_id file.file_id annotations.file_id annotations.container_id"},
		{inBase64, parts, "image_url image_url.url video_url video_url.url input_audio.data file_data file.file_data b64_json signature"},
	}
}

// apiWords are those that stand for themselves in either API. Of words that
// dots join each must be of them, or have a low line within.
var apiWords = func() map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(`
		system developer user assistant tool function
		completed incomplete searching generating interpreting calling failed queued cancelled
		auto none required default flex priority scale standard low medium high original
		message reasoning refusal content text image audio file video custom grammar namespace mcp
		search find click drag keypress move screenshot scroll type wait exec logs url compaction
		response chat completion chunk object list error stop length
		summary encrypted delta done created added outputs results action sources logprobs`) {
		set[w] = true
	}
	return set
}()

const (
	// maxName bounds a name, an identifier or a word that is not read.
	maxName = 128
	// minEncoded is the least length of data in base64 that is not read, and
	// minImage that of an image: less may be a word.
	minEncoded = 32
	minImage   = 1024
)

// fits tells whether a string, given as in its body without the quotes, has
// the shape.
func (s shape) fits(value []byte) bool {
	switch s {
	case anything:
		return true
	case aWord:
		return len(value) <= maxName && isWords(value)
	case anIdentifier:
		return isName(value, "_-.:|") && bytes.ContainsFunc(value, isDigit) && bytes.ContainsFunc(value, isLetter)
	case givenOut:
		return isName(value, "_-.:|")
	case aName:
		return isName(value, "_-.:/")
	case inBase64:
		return isEncoded(value, minEncoded)
	case inPieces:
		return isEncoded(value, 0)
	case anImage:
		return isEncoded(value, minImage)
	}
	return false
}

func isWords(s []byte) bool {
	for part := range bytes.SplitSeq(s, []byte(".")) {
		low := bytes.IndexByte(part, '_')
		if !apiWords[string(part)] && (low <= 0 || low == len(part)-1) {
			return false
		}
		for _, c := range part {
			if !('a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '_') {
				return false
			}
		}
	}
	return true
}

// isName tells whether s is letters, digits and signs in ASCII.
func isName(s []byte, signs string) bool {
	for _, c := range s {
		if !isLetter(rune(c)) && !isDigit(rune(c)) && strings.IndexByte(signs, c) < 0 {
			return false
		}
	}
	return len(s) <= maxName
}

func isLetter(r rune) bool { return 'a' <= r|0x20 && r|0x20 <= 'z' }

// isEncoded tells whether s is base64 of least characters or more, alone or
// behind "data:<type>;base64,". A slash may be escaped.
func isEncoded(s []byte, least int) bool {
	if rest, ok := bytes.CutPrefix(s, []byte("data:")); ok {
		head, _, ok := bytes.Cut(rest[:min(len(rest), maxName)], []byte(","))
		if !ok || !bytes.HasSuffix(head, []byte(";base64")) || bytes.IndexByte(head, ' ') >= 0 {
			return false
		}
		s = rest[len(head)+1:]
	}
	for i, c := range s {
		if !base64Bytes[c] && (c != '\\' || i+1 == len(s) || s[i+1] != '/') {
			return false
		}
	}
	return len(s) >= least
}

// base64Bytes are those of RFC 4648, sections 4 and 5.
var base64Bytes = func() (set [256]bool) {
	for _, c := range []byte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_=") {
		set[c] = true
	}
	return set
}()

// node is a place in the tree of those not read; the elements of an
// array are at the place of the array. The nil node is anywhere else.
type node struct {
	shape shape
	next  map[string]*node
}

func (n *node) below(key string) *node {
	if n == nil {
		return nil
	}
	return n.next[key]
}

func (n *node) exempts(value []byte) bool { return n != nil && n.shape.fits(value) }

var (
	unreadOfRequests = newTree(requestPlaces)
	unreadOfAnswers  = newTree(answerPlaces)
)

func newTree(places []place) *node {
	root := &node{next: map[string]*node{}}
	for _, p := range places {
		for _, in := range p.in {
			for _, keys := range strings.Fields(p.keys) {
				n := root
				for key := range strings.SplitSeq(strings.TrimPrefix(in+"."+keys, "."), ".") {
					if n.next[key] == nil {
						n.next[key] = &node{next: map[string]*node{}}
					}
					n = n.next[key]
				}
				n.shape = p.shape
			}
		}
	}
	return root
}

// echoed are the members in which a Response repeats its request, at the top
// of an answer and in the response of an event: they are the caller's words.
var echoed = []string{
	"instructions", "tools", "tool_choice", "metadata", "text", "prompt", "input", "model", "user",
	"safety_identifier", "prompt_cache_key", "previous_response_id", "conversation", "reasoning",
}

// free are members below which keys are a caller's own words, and may differ
// in case only.
var free = map[string]bool{
	"metadata": true, "parameters": true, "schema": true, "input_schema": true, "variables": true,
	"properties": true, "logit_bias": true, "headers": true, "env": true, "arguments": true,
	"chat_template_kwargs": true, "extra_body": true, "extra_content": true, "annotations": true,
}

// echoedBy is echoed as a set.
var echoedBy = func() map[string]bool {
	by := map[string]bool{}
	for _, key := range echoed {
		by[key] = true
	}
	return by
}()

func isDigit(r rune) bool { return '0' <= r && r <= '9' }
