package responsesonchat

import (
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/conversation"
)

// partTypes are the types of content parts with their fields: those that other APIs can have, and
// those for readers and not for the model, annotations and log probabilities of earlier answers.
var partTypes = map[string]struct {
	kind   conversation.Kind
	fields []string
}{
	"input_text":  {conversation.Text, []string{"type", "text", conversation.Breakpoint}},
	"output_text": {conversation.Text, []string{"type", "text", "annotations", "logprobs", conversation.Breakpoint}},
	"refusal":     {conversation.Refusal, []string{"type", "refusal"}},
	"input_image": {conversation.Image, []string{"type", "image_url", "detail", conversation.Breakpoint}},
	"input_file":  {conversation.File, []string{"type", "filename", "file_data", "file_url", conversation.Breakpoint}},
	"input_audio": {conversation.Sound, []string{"type", "input_audio", conversation.Breakpoint}},
}

// content reads a content, which is a member of o: a text, or parts of some kinds.
func (in *input) content(o translate.Reader, key string, kinds conversation.Kind) (parts []conversation.Part) {
	switch value := translate.Required(o, key); {
	case value == nil:
	case value[0] == '"':
		parts = in.to.Append(parts, textPart(value))
	default:
		o.Each(key, translate.MaxParts, func(_ int, part translate.Reader) {
			parts = in.to.Append(parts, in.part(part, kinds))
		})
		if len(parts) == 1 {
			parts[0].Whole = parts[0].Media == nil
		}
	}
	return parts
}

func (in *input) part(part translate.Reader, kinds conversation.Kind) conversation.Part {
	typ := translate.TypeOf(part)
	known, ok := partTypes[typ]
	if !ok || !kinds.Has(known.kind) {
		translate.RefuseType(part, typ)
	}
	part.Only(known.fields...)
	if part.Get(conversation.Breakpoint) != nil {
		in.to.LeaveOut("messages." + conversation.Breakpoint)
	}
	p := conversation.Part{Kind: known.kind}
	switch p.Kind {
	case conversation.Image:
		url := part.RequiredText("image_url")
		p.Media = &conversation.Media{Media: translate.ReadMedia(url), Param: part.Param("image_url"), URL: url, Detail: part.Text("detail")}
	case conversation.File:
		p.Media = in.file(part)
	case conversation.Sound:
		audio := part.RequiredObject("input_audio", "data", "format")
		data, _ := translate.Unquoted(audio.RequiredText("data"))
		p.Media = &conversation.Media{Param: audio.Param("data"), Format: audio.RequiredText("format")}
		p.Media.Data = data
	case conversation.Refusal:
		p.Kind, p.Text = conversation.Text, part.RequiredText("refusal")
	default:
		p.Text = part.RequiredText("text")
	}
	return p
}

func (in *input) file(part translate.Reader) *conversation.Media {
	key := "file_data"
	if part.Get("file_url") != nil {
		if !in.to.Rules().Links || part.Get("file_data") != nil {
			part.Fail(translate.Unsupported(part.Param("file_url")))
		}
		key = "file_url"
	}
	return conversation.FileOf(part, key, part.Text("filename"))
}
