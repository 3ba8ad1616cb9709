package params

import (
	"strconv"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
)

// Google's API takes each field in two spellings, maxOutputTokens and max_output_tokens. What judges a
// request reads both, as [googleKey] has them.

// googleKey returns a key in lower case and without "_".
func googleKey(key []byte) string {
	var short [64]byte
	plain := short[:0]
	for _, c := range foldKey(key) {
		if c != '_' {
			plain = append(plain, c)
		}
	}
	return string(plain)
}

// googleMember returns the member of an object by the name that googleKey has for it, nil if it is absent
// or null. Of several the last counts; [ParseGenerate] refuses them where the gateway acts on one.
func googleMember(object []byte, name string) (value []byte) {
	for m := range jsonscan.AllMembers(object) {
		if m.Kind != 'n' && googleKey(m.DecodedKey(object)) == name {
			value = m.Value(object)
		}
	}
	return value
}

// generationConfig is the object with the limits of an answer.
const generationConfig = "generationConfig"

// ParseGenerate reads a GenerateContentRequest of Google's, as [ParseChat] reads a chat one. The path
// names the model and says whether the answer is streamed. It must have `contents`.
func ParseGenerate(b *jsonscan.Body, path Request) (Request, error) {
	if err := once(b.Data(), ""); err != nil {
		return path, err
	}
	if err := list(b.Data(), "contents"); err != nil {
		return path, err
	}
	config := googleMember(b.Data(), "generationconfig")
	switch {
	case config == nil:
		path.Choices = 1
		return path, nil
	case config[0] != '{':
		return path, wrong(generationConfig, "an object")
	}
	path.Choices = candidates(config)
	return path, once(config, generationConfig+".")
}

// ParseCount reads a CountTokensRequest: with `contents`, or with a whole generateContentRequest.
func ParseCount(b *jsonscan.Body, path Request) (Request, error) {
	if err := once(b.Data(), ""); err != nil {
		return path, err
	}
	request := googleMember(b.Data(), "generatecontentrequest")
	switch {
	case request == nil:
		return path, list(b.Data(), "contents")
	case request[0] != '{':
		return path, wrong("generateContentRequest", "an object")
	}
	return path, once(request, "generateContentRequest.")
}

// ParseEmbed reads an EmbedContentRequest, which has one text, and ParseBatchEmbed several of them.
func ParseEmbed(b *jsonscan.Body, path Request) (Request, error) {
	if err := once(b.Data(), ""); err != nil {
		return path, err
	}
	if content := googleMember(b.Data(), "content"); content == nil {
		return path, missing("content")
	}
	return path, nil
}

// ParseBatchEmbed reads a BatchEmbedContentsRequest.
func ParseBatchEmbed(b *jsonscan.Body, path Request) (Request, error) {
	requests, ok := member(b, "requests")
	switch {
	case !ok:
		return path, missing("requests")
	case requests.Kind != '[':
		return path, wrong("requests", "an array")
	}
	return path, once(b.Data(), "")
}

// once refuses an object that has a field in both spellings: what was judged has to be what the provider
// reads.
func once(object []byte, path string) error {
	seen := map[string]bool{}
	for m := range jsonscan.AllMembers(object) {
		key := m.DecodedKey(object)
		name := googleKey(key)
		if seen[name] {
			param := path + string(key)
			return apierror.New(apierror.InvalidValue, "%q is given in two spellings", param).WithParam(param)
		}
		seen[name] = true
	}
	return nil
}

// list refuses an object without a list. Google takes one element for a list of one.
func list(object []byte, name string) error {
	switch value := googleMember(object, name); {
	case value == nil:
		return missing(name)
	case value[0] != '[' && value[0] != '{':
		return wrong(name, "an array")
	}
	return nil
}

// candidates returns how many answers a generationConfig asks for: 1 if it does not say, 0 if that is no
// number.
func candidates(config []byte) int64 {
	value := googleMember(config, "candidatecount")
	if value == nil {
		return 1
	}
	n, _ := jsonscan.Int(value)
	return n
}

// outputParam is the field that limits the output.
const outputParam = generationConfig + ".maxOutputTokens"

// GenerateLimits is [ChatLimits] for a request that [ParseGenerate] accepted. The tokens of thoughts are
// part of the output.
func GenerateLimits(b *jsonscan.Body) (RequestedLimits, error) {
	l := RequestedLimits{Choices: 1, Param: outputParam}
	if contents := googleMember(b.Data(), "contents"); contents != nil {
		l.Messages = count(contents)
	}
	config := googleMember(b.Data(), "generationconfig")
	if config == nil {
		return l, nil
	}
	if l.Choices = candidates(config); l.Choices < 1 || l.Choices > maxN {
		return l, apierror.New(apierror.InvalidValue, "%q must be an integer from 1 to %d", generationConfig+".candidateCount", maxN).
			WithParam(generationConfig + ".candidateCount")
	}
	if value := googleMember(config, "maxoutputtokens"); value != nil {
		n, ok := jsonscan.Int(value)
		if !ok || n < 1 || n > openai.MaxTokens {
			return l, wrong(outputParam, "a positive integer")
		}
		l.Output = n
	}
	return l, nil
}

// EmbedLimits is [ChatLimits] for a request that [ParseEmbed] or [ParseBatchEmbed] accepted. Messages
// counts what is embedded.
func EmbedLimits(b *jsonscan.Body) RequestedLimits {
	if requests, ok := member(b, "requests"); ok {
		return RequestedLimits{Messages: count(requests.Value(b.Data()))}
	}
	return RequestedLimits{Messages: 1}
}

// EncodeGenerate turns a caller's request into the provider's: its path names the model, so that the body
// does not. Output limits the answer to so many tokens; 0 leaves the caller's own limit.
func EncodeGenerate(b *jsonscan.Body, output int64) {
	config := -1
	for i, m := range b.Members() {
		switch googleKey(m.Key(b.Data())) {
		case "model":
			b.Drop(i)
		case "generationconfig":
			config = i
		}
	}
	if output == 0 {
		return
	}
	limit := strconv.AppendInt(nil, output, 10)
	if config < 0 || b.Members()[config].Kind != '{' {
		if config >= 0 {
			b.Drop(config)
		}
		b.Add(generationConfig, append(append([]byte(`{"maxOutputTokens":`), limit...), '}'))
		return
	}
	b.Set(config, withMember(b.Value(config), "maxOutputTokens", limit))
}

// EncodeNamed names the model as the provider knows it wherever a request of Google's has it beside the
// path: in each request of a batch, and in the request whose tokens are counted. Without a name the
// provider wants none there.
func EncodeNamed(b *jsonscan.Body, name string) {
	for i, m := range b.Members() {
		value := b.Value(i)
		switch googleKey(m.Key(b.Data())) {
		case "model":
			b.Drop(i)
		case "generatecontentrequest":
			if m.Kind == '{' {
				b.Set(i, named(value, name))
			}
		case "requests":
			if m.Kind == '[' {
				out, at := []byte(nil), 0
				for e := range jsonscan.AllElements(value) {
					if e.Kind == '{' {
						out = append(append(out, value[at:e.Start]...), named(e.Value(value), name)...)
						at = e.End
					}
				}
				b.Set(i, append(out, value[at:]...))
			}
		}
	}
}

func named(object []byte, name string) []byte {
	if name == "" {
		return withMember(object, "model", nil)
	}
	return withMember(object, "model", jsonscan.AppendString(nil, name))
}

// withMember returns an object with a member in place of the one with that name, in either spelling; nil
// leaves it out.
func withMember(object []byte, key string, value []byte) []byte {
	members := jsonscan.Members(object, nil)
	p, name := jsonscan.NewPatch(object, members), googleKey([]byte(key))
	for i, m := range members {
		if googleKey(m.DecodedKey(object)) == name {
			p.Drop(i)
		}
	}
	if value != nil {
		p.Add(key, value)
	}
	return p.Append(nil)
}
