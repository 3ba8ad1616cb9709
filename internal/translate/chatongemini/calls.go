package chatongemini

import (
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// call adds a call of the model, with the signature that it came with.
func (w *turns) call(o translate.Reader, c *content, signatures map[string][]byte) {
	asked := translate.ReadToolCall(o)
	decoded, _ := jsonscan.String(asked.ID)
	signature := signatures[decoded]
	if signature == nil { // in the form of Google's own layer for OpenAI's SDKs
		extra, _ := o.Object("extra_content")
		google, _ := extra.Object("google")
		signature = translate.NonEmptyText(google, "thought_signature")
	}
	w.calls = append(w.calls, call{decoded, string(asked.Name)})
	c.parts = append(translate.AppendComma(c.parts), '{')
	switch {
	case signature != nil:
		c.parts = translate.AppendKey(c.parts, "thoughtSignature")
		c.signatures = append(c.signatures, len(c.parts))
		c.parts = append(append(c.parts, signature...), ',')
	case c.calls == 0:
		c.unsigned = len(c.parts)
	}
	c.calls++
	c.parts = append(c.parts, `"functionCall":{`...)
	if w.model.signs() {
		c.parts = translate.AppendMember(c.parts, "id", asked.ID)
	}
	c.parts = translate.AppendMember(c.parts, "name", asked.Name)
	c.parts = append(translate.AppendMember(c.parts, "args", asked.Input), "}}"...)
}

// result adds what a tool answered. It is always a text: an object with "$ref" would be read as the name
// of a part.
func (w *turns) result(o translate.Reader) {
	id := o.RequiredText("tool_call_id")
	decoded, _ := jsonscan.String(id)
	at := -1
	for i := len(w.calls) - 1; i >= 0 && at < 0; i-- {
		if w.calls[i].id == decoded {
			at = i
		}
	}
	if at < 0 {
		param := o.Param("tool_call_id")
		o.Fail(apierror.New(apierror.InvalidValue, "%q is %q, but no call before has this id", param, translate.Shorten(decoded)).WithParam(param))
		return
	}
	var texts []byte
	media := content{result: true}
	add := func(quoted []byte) {
		inner, _ := translate.Unquoted(quoted)
		texts = append(texts, inner...)
	}
	eachPart(o, func(part translate.Reader, typ string) {
		if typ == "text" {
			add(part.RequiredText("text"))
		} else {
			w.part(part, typ, &media)
		}
	}, add)
	said := w.response(id, w.calls[at].name, texts, media.parts)
	n := len(w.contents)
	if n == 0 || w.contents[n-1].results == nil {
		w.contents = append(w.contents, content{role: roleUser, text: true})
		n++
	}
	c := &w.contents[n-1]
	c.results = append(c.results, result{at, said})
}

// response returns the part with what a tool answered. Older models take images beside it.
func (w *turns) response(id []byte, name string, texts, media []byte) []byte {
	part := []byte(`{"functionResponse":{`)
	if w.model.signs() {
		part = translate.AppendMember(part, "id", id)
	}
	part = translate.AppendMember(part, "name", []byte(name))
	part = append(translate.AppendTextMember(append(translate.AppendKey(part, "response"), '{'), "output", texts), '}')
	switch {
	case len(media) == 0:
		return append(part, "}}"...)
	case w.model.signs():
		part = append(append(translate.AppendKey(part, "parts"), '['), media...)
		return append(part, "]}}"...)
	}
	return append(append(part, "}},"...), media...)
}
