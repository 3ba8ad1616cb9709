package document

import (
	"bytes"
	"slices"
	"strings"
)

// exemption names members whose values are not read if they have a shape. Everything else is read:
// other members, other spellings of their names, and values of another shape.
type exemption struct {
	shape   shape
	of      string   // the type that the object must have, "" for any
	in      []string // paths of the objects: keys joined by dots, "" for the body itself
	members string   // the members, or paths from there, separated by blanks
}

// shape is what a value must look like to be exempt.
type shape uint8

const (
	readAlways  shape = iota
	anyString         // any string
	apiWord           // words of a closed set
	capitals          // a word of Google's API: capital letters, digits and "_"
	callerID          // an identifier in a request: it has a letter and a digit, and no blank
	providerID        // an identifier from a provider: no blank
	modelName         // the name of a model or the like: no blank
	base64Data        // base64, alone or in a data URL
	base64Piece       // base64 of any length, as streams bring it
	base64Image       // an image in base64, in a member that may also be a text
	mediaType         // a media type of a closed set
	toolInput         // not exempt: the arguments of a tool call
	toolData          // not exempt: data of a tool, or for one, in which keys and numbers are read too
)

var (
	atTop = []string{""}

	// requestExemptions are the exemptions in requests.
	requestExemptions = slices.Concat([]exemption{
		{shape: anyString, in: atTop, members: "model"}, // the gateway knows it
		{shape: modelName, in: atTop, members: "models"},
		{shape: apiWord, in: atTop, members: "include modalities service_tier tools.type tool_choice tool_choice.type response_format.type text.format.type prediction.type"},
		{shape: callerID, in: atTop, members: "previous_response_id conversation conversation.id prompt.id session_id safety_identifier prompt_cache_key"},
	}, exemptionsOf(callerID, []string{"messages"}, []string{"input"}, []string{"messages.content", "prediction.content"}), messagesRequest, generateRequest, mcpRequest)

	// answerExemptions are the exemptions in whole answers and in events.
	answerExemptions = slices.Concat([]exemption{
		{shape: anyString, in: atTop, members: "model response.model"},
		{shape: modelName, in: atTop, members: "system_fingerprint choices.native_finish_reason obfuscation"},
		{shape: apiWord, in: atTop, members: "object type status service_tier choices.finish_reason error.type annotation.type response.object response.status response.service_tier"},
		{shape: providerID, in: atTop, members: "id item_id response_id annotation.file_id annotation.container_id response.id"},
		{shape: base64Data, in: atTop, members: "partial_image_b64"},
	}, exemptionsOf(providerID, []string{"choices.message", "choices.delta"}, []string{"output", "item", "response.output"}, []string{"part", "choices.message.content", "choices.delta.content"}), []exemption{
		{shape: base64Piece, in: atTop, members: "choices.delta.audio.data"},
	}, messagesAnswer, generateAnswer, mcpAnswer)
)

// exemptionsOf returns the exemptions in chat messages, in the items of Responses, and in the parts
// of either. The paths of the parts of items are added to parts.
func exemptionsOf(identifier shape, messages, items, parts []string) []exemption {
	for _, item := range items {
		parts = append(parts, item+".content", item+".summary", item+".output")
	}
	return []exemption{
		{shape: apiWord, in: messages, members: "role tool_calls.type reasoning_details.type annotations.type images.type"},
		{shape: identifier, in: messages, members: "id tool_call_id tool_calls.id audio.id reasoning_details.id"},
		{shape: base64Data, in: messages, members: "audio.data reasoning_details.data reasoning_details.signature images.image_url images.image_url.url tool_calls.extra_content.google.thought_signature"},

		{shape: apiWord, in: items, members: "type role status action.type outputs.type"},
		{shape: identifier, in: items, members: "id call_id approval_request_id container_id results.file_id"},
		{shape: base64Data, in: items, members: "encrypted_content outputs.url"},
		{shape: base64Image, in: items, members: "result"},

		{shape: apiWord, in: parts, members: "type detail image_url.detail annotations.type"},
		{shape: identifier, in: parts, members: "id file_id file.file_id annotations.file_id annotations.container_id"},
		{shape: base64Data, in: parts, members: "audio"}, // of Realtime
		{shape: base64Data, in: parts, members: "image_url image_url.url video_url video_url.url input_audio.data file_data file.file_data b64_json signature"},
	}
}

// apiWords are the words that the APIs use as values. In words joined by dots, each must be one
// of these or contain an underscore.
var apiWords = setOf(`
	system developer user assistant tool function
	completed incomplete searching generating interpreting calling failed queued cancelled
	auto none required default flex priority scale standard low medium high original
	message reasoning refusal content text image audio file video custom grammar namespace mcp
	search find click drag keypress move screenshot scroll type wait exec logs url compaction
	response chat completion chunk object list error stop length
	summary encrypted delta done created added outputs results action sources logprobs
	thinking document enabled disabled adaptive summarized omitted ephemeral 5m 1h base64 any direct xhigh max fast
	float embedding model`)

const (
	// maxName is the largest length of a name, identifier or word that is exempt.
	maxName = 128
	// minEncoded is the least length of base64 data that is exempt, and minImage that of an image:
	// shorter ones may be words.
	minEncoded = 32
	minImage   = 1024
)

// fits reports whether a string, as it is in its body without the quotes, has the shape.
func (s shape) fits(value []byte) bool {
	switch s {
	case anyString:
		return true
	case apiWord:
		return len(value) <= maxName && isWords(value)
	case capitals:
		return len(value) <= maxName && !bytes.ContainsFunc(value, func(r rune) bool { return (r < 'A' || r > 'Z') && !isDigit(r) && r != '_' })
	case callerID:
		return isName(value, "_-.:|") && bytes.ContainsFunc(value, isDigit) && bytes.ContainsFunc(value, isLetter)
	case providerID:
		return isName(value, "_-.:|")
	case modelName:
		return isName(value, "_-.:/")
	case base64Data:
		return isEncoded(value, minEncoded)
	case base64Piece:
		return isEncoded(value, 0)
	case base64Image:
		return isEncoded(value, minImage)
	case mediaType:
		return mediaTypes[string(value)]
	}
	return false
}

// IsPadding reports whether a JSON string is exempt as the member obfuscation of an event.
func IsPadding(value []byte) bool { return modelName.fits(value[1 : len(value)-1]) }

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

// isName reports whether s has only ASCII letters, digits and the given signs.
func isName(s []byte, signs string) bool {
	for _, c := range s {
		if !isLetter(rune(c)) && !isDigit(rune(c)) && strings.IndexByte(signs, c) < 0 {
			return false
		}
	}
	return len(s) <= maxName
}

func isLetter(r rune) bool { return 'a' <= r|0x20 && r|0x20 <= 'z' }

// isEncoded reports whether s is base64 of at least least characters, alone or after
// "data:<type>;base64,". Slashes may be escaped.
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

// base64Bytes are the characters of RFC 4648, sections 4 and 5.
var base64Bytes = func() (set [256]bool) {
	for _, c := range []byte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_=") {
		set[c] = true
	}
	return set
}()

// node is a node of the tree of exempt members, by key. Elements of an array have the node of the
// array. A nil node exempts nothing.
type node struct {
	shape shape
	of    string // the type that the object must have, "" for any
	next  map[string]*node
}

func (n *node) below(key string) *node {
	if n == nil {
		return nil
	}
	return n.next[key]
}

func (n *node) isData() bool { return n != nil && n.shape == toolData }

func (n *node) covers(value []byte) bool { return n != nil && n.shape.fits(value) }

var (
	exemptInRequests = newTree(requestExemptions)
	exemptInAnswers  = newTree(answerExemptions)
)

func newTree(list []exemption) *node {
	root := &node{next: map[string]*node{}}
	for _, e := range list {
		for _, in := range e.in {
			for _, keys := range strings.Fields(e.members) {
				n := root
				for key := range strings.SplitSeq(strings.TrimPrefix(in+"."+keys, "."), ".") {
					if n.next[key] == nil {
						n.next[key] = &node{next: map[string]*node{}}
					}
					n = n.next[key]
				}
				n.shape, n.of = e.shape, e.of
			}
		}
	}
	return root
}

// echoedMembers are the members of a Response object that repeat its request: the caller's words.
// They are at the top of an answer and in the member "response" of an event.
var echoedMembers = setOf(`instructions tools tool_choice metadata text prompt input model user
	safety_identifier prompt_cache_key previous_response_id conversation reasoning`)

// callerKeys are members below which the keys are the caller's own words, so that "arguments" is not
// that of a tool call.
var callerKeys = setOf(`metadata parameters schema input_schema variables properties logit_bias headers env arguments
	input_examples chat_template_kwargs extra_body extra_content annotations`)

// setOf returns the words of a text as a set.
func setOf(words string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(words) {
		set[w] = true
	}
	return set
}

func isDigit(r rune) bool { return '0' <= r && r <= '9' }
