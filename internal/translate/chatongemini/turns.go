package chatongemini

import (
	"slices"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// messageFields are the fields of messages, by role, that a request can carry or that the model does not
// need: annotations and parsed are for readers, and reasoning without a signature is not taken back.
var messageFields = translate.MessageFields{
	"system":    {"role", "content", "name", "cache_control"},
	"developer": {"role", "content", "name", "cache_control"},
	"user":      {"role", "content", "name", "cache_control"},
	"assistant": {"role", "content", "name", "refusal", "tool_calls", "annotations", "parsed", "cache_control",
		"reasoning", "reasoning_content", "reasoning_details", "images"},
	"tool": {"role", "content", "tool_call_id", "name", "is_error", "cache_control"},
}

// The roles of contents.
const (
	roleUser  = "user"
	roleModel = "model"
)

// turns are the contents of a request. Neighbours of one role are one content, but for the results of
// calls, which have one of their own right behind the calls:
//
//	{"role": "user",  "parts": [{"text"}, {"inlineData"}]}
//	{"role": "model", "parts": [{"text"}, {"functionCall", "thoughtSignature"}, {"functionCall"}]}
//	{"role": "user",  "parts": [{"functionResponse"}, {"functionResponse"}]}
type turns struct {
	model   *model
	leftOut *[]string

	system   []byte // parts
	contents []content
	calls    []call // of all messages; results name them by their ids
	signed   []int  // where the values of signatures begin in the request
}

// content is one element of contents.
type content struct {
	role  string
	parts []byte
	text  bool // it has a part that is text
	// signs says that its first part and its images want a signature, result that its parts are those
	// of a result.
	signs, result bool
	calls         int // functionCalls in it
	// results has those of tools by the order of their calls, nil for none; parts has what belongs to
	// them.
	results []result
	// signatures are where those of its calls begin in parts. unsigned is where that of its first call
	// would stand, 0 if it has one.
	signatures []int
	unsigned   int
}

// call is a tool call of the conversation.
type call struct{ id, name string }

// result is what a tool answered to a call.
type result struct {
	call int
	part []byte
}

// read reads messages. A system or developer message behind others is said by the user: there is no
// other place for it.
func (w *turns) read(body translate.Reader) {
	translate.Required(body, "messages")
	said := false
	body.Each("messages", translate.MaxMessages, func(_ int, o translate.Reader) {
		role := messageFields.Role(o, w.leftOut)
		system := role == "system" || role == "developer"
		said = said || !system
		switch {
		case system && !said:
			c := content{parts: w.system}
			w.parts(o, &c)
			w.system = c.parts
		case role == "assistant":
			w.assistant(o)
		case role == "tool":
			w.result(o)
		default:
			w.parts(o, w.begin(roleUser))
		}
	})
	if len(w.contents) == 0 {
		body.Fail(apierror.New(apierror.InvalidValue, `"messages" needs a message of the user for this model`).WithParam("messages"))
	}
}

// begin returns the content that a message of a role adds to.
func (w *turns) begin(role string) *content {
	if n := len(w.contents); n > 0 && w.contents[n-1].role == role && w.contents[n-1].results == nil {
		return &w.contents[n-1]
	}
	w.contents = append(w.contents, content{role: role, signs: role == roleModel && w.model.paints})
	return &w.contents[len(w.contents)-1]
}

// assistant adds a message of the model.
func (w *turns) assistant(o translate.Reader) {
	refusal := o.Text("refusal")
	if o.Get("content") == nil && o.Get("tool_calls") == nil && refusal == nil && o.Get("images") == nil && o.Get("reasoning_details") == nil {
		o.Fail(translate.Missing(o.Param("content")))
	}
	c := w.begin(roleModel)
	signatures := readSignatures(o)
	if o.Get("content") != nil {
		w.parts(o, c)
	}
	c.addText(refusal)
	o.Each("images", translate.MaxParts, func(_ int, image translate.Reader) { w.image(image, c) })
	o.Each("tool_calls", translate.MaxTools, func(_ int, call translate.Reader) { w.call(call, c, signatures) })
}

// append appends the members of the request that have the conversation.
func (w *turns) append(dst []byte) []byte {
	if len(w.system) > 0 {
		dst = append(append(append(translate.AppendKey(dst, "systemInstruction"), `{"parts":[`...), w.system...), "]}"...)
	}
	dst = append(translate.AppendKey(dst, "contents"), '[')
	current := w.current()
	for i := range w.contents {
		c := &w.contents[i]
		if len(c.parts)+len(c.results) == 0 { // an empty text
			continue
		}
		dst = append(translate.AppendComma(dst), `{"role":"`...)
		dst = append(append(dst, c.role...), `","parts":[`...)
		dst = w.appendParts(dst, c, i >= current)
		dst = append(dst, "]}"...)
	}
	return append(dst, ']')
}

// current returns the first content after the last that the user said: there the model's calls must be
// signed.
func (w *turns) current() int {
	for i := len(w.contents) - 1; i >= 0; i-- {
		if c := &w.contents[i]; c.role == roleUser && c.results == nil && len(c.parts) > 0 {
			return i + 1
		}
	}
	return 0
}

func (w *turns) appendParts(dst []byte, c *content, current bool) []byte {
	switch {
	case c.results != nil:
		slices.SortStableFunc(c.results, func(a, b result) int { return a.call - b.call })
		for _, r := range c.results {
			dst = append(translate.AppendComma(dst), r.part...)
		}
		return dst
	case c.role == roleUser && !c.text: // Google wants a text beside media
		return append(append(append(dst, c.parts...), ','), `{"text":" "}`...)
	}
	start := len(dst)
	for _, at := range c.signatures {
		w.signed = append(w.signed, start+at)
	}
	if c.unsigned == 0 || !current || !w.model.signs() {
		return append(dst, c.parts...)
	}
	dst = append(dst, c.parts[:c.unsigned]...)
	dst = append(dst, `"thoughtSignature":`+dummy+`,`...)
	for i := range w.signed[len(w.signed)-len(c.signatures):] {
		w.signed[len(w.signed)-len(c.signatures)+i] += len(`"thoughtSignature":` + dummy + `,`)
	}
	return append(dst, c.parts[c.unsigned:]...)
}

// addText adds a text, nil for none. Empty ones are left out.
func (c *content) addText(quoted []byte) {
	if _, some := translate.Unquoted(quoted); !some {
		return
	}
	first := len(c.parts) == 0
	c.parts = translate.AppendMember(append(translate.AppendComma(c.parts), '{'), "text", quoted)
	if c.signs && first {
		c.parts = append(translate.AppendKey(c.parts, "thoughtSignature"), dummy...)
	}
	c.parts = append(c.parts, '}')
	c.text = true
}
