package params

import (
	"bytes"
	"encoding/base64"
	"slices"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/sound"
	"github.com/gatehouse-proxy/gatehouse/internal/units"
)

// googleFields are the fields of a request that cannot make it cost more than its bytes and its output
// say. [GenerateReferences] judges the tools.
var googleFields = setOf("tools toolconfig safetysettings cachedcontent labels continuationtoken store model tasktype title outputdimensionality autotruncate")

// googleConfig are those of generationConfig.
var googleConfig = setOf(`maxoutputtokens temperature topp topk seed stopsequences candidatecount responsemimetype responseschema
	responsejsonschema responselogprobs logprobs presencepenalty frequencypenalty thinkingconfig enableenhancedcivicanswers`)

// GenerateContentOf is [ContentOf] for a request of Google's.
func GenerateContentOf(b *jsonscan.Body) Content {
	var c googleContent
	c.request(b.Data())
	return c.Content
}

type googleContent struct{ Content }

func (c *googleContent) request(object []byte) {
	for m := range jsonscan.AllMembers(object) {
		if m.Kind == 'n' {
			continue
		}
		key, value := m.DecodedKey(object), m.Value(object)
		switch name := googleKey(key); name {
		case "contents", "systeminstruction", "content":
			each(value, c.turn)
		case "generationconfig", "embedcontentconfig":
			c.config(value)
		case "servicetier":
			if tier, ok := jsonscan.String(value); !ok || !slices.Contains(plainTiers, strings.ToLower(tier)) {
				c.unpriced("serviceTier")
			}
		case "requests":
			each(value, c.request)
		default:
			if !googleFields[name] {
				c.unpriced(string(key[:min(len(key), maxTypeName)]))
			}
		}
	}
}

func (c *googleContent) config(object []byte) {
	for m := range jsonscan.AllMembers(object) {
		key, value := m.DecodedKey(object), m.Value(object)
		switch name := googleKey(key); {
		case m.Kind == 'n' || googleConfig[name] || googleFields[name]:
		case name == "responsemodalities":
			for e := range jsonscan.AllElements(value) {
				switch modality, _ := jsonscan.String(e.Value(value)); strings.ToUpper(modality) {
				case "TEXT":
				case "AUDIO":
					c.Units[units.AudioOutput] = 1
				default:
					c.unpriced("responseModalities")
				}
			}
		case name == "speechconfig":
			c.Units[units.AudioOutput] = 1
		default:
			c.unpriced(generationConfig + "." + string(key[:min(len(key), maxTypeName)]))
		}
	}
}

// turn reads the parts of a content.
func (c *googleContent) turn(object []byte) { each(googleMember(object, "parts"), c.part) }

func (c *googleContent) part(object []byte) {
	for m := range jsonscan.AllMembers(object) {
		value := m.Value(object)
		switch googleKey(m.DecodedKey(object)) {
		case "inlinedata":
			c.data(value)
		case "filedata", "videometadata":
			c.unpriced("file")
		case "functionresponse":
			each(googleMember(value, "parts"), c.part)
		}
	}
}

// data reads what is sent in base64.
func (c *googleContent) data(object []byte) {
	media, _ := jsonscan.String(googleMember(object, "mimetype"))
	switch kind, _, _ := strings.Cut(strings.ToLower(media), "/"); kind {
	case "image":
		c.Images++
		c.Encoded += int64(len(googleMember(object, "data")))
	case "audio":
		c.Units[units.AudioInput] = 1
		data := googleMember(object, "data")
		length, ok := googleAudio(data, media)
		c.Sounds.add(length, ok, len(data))
	default:
		c.unpriced("file")
	}
}

// googleAudio is [inputAudio] for data in any base64 that Google takes.
func googleAudio(data []byte, media string) (l sound.Length, ok bool) {
	if !isString(data) {
		return l, false
	}
	data = bytes.TrimRight(data[1:len(data)-1], "=")
	encoding := base64.RawStdEncoding
	if bytes.ContainsAny(data, "-_") {
		encoding = base64.RawURLEncoding
	}
	return encodedSound(data, encoding, sound.NameInType(media))
}

// each calls f for an object, or for each object of an array.
func each(value []byte, f func(object []byte)) {
	switch {
	case len(value) == 0:
	case value[0] == '{':
		f(value)
	case value[0] == '[':
		for e := range jsonscan.AllElements(value) {
			if e.Kind == '{' {
				f(e.Value(value))
			}
		}
	}
}
