package params

import (
	"bytes"
	"encoding/base64"
	"regexp"
	"slices"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/sound"
	"github.com/gatehouse-proxy/gatehouse/internal/units"
)

// googleConfig are those of generationConfig.
var googleConfig = setOf(`maxoutputtokens temperature topp topk seed stopsequences candidatecount responsemimetype responseschema
	responsejsonschema responselogprobs logprobs presencepenalty frequencypenalty thinkingconfig enableenhancedcivicanswers
	tasktype title outputdimensionality autotruncate`)

// The members of contents, of their parts, and of what is in those.
var (
	googleTurn     = fieldsOf("role parts")
	googlePart     = fieldsOf("text thought thoughtsignature inlinedata filedata functioncall functionresponse executablecode codeexecutionresult")
	googleData     = fieldsOf("mimetype data displayname")
	googleResponse = fieldsOf("id name response parts scheduling willcontinue")
)

// googleMedia are the media types of what is sent in base64, as each reader takes them.
var googleMedia = regexp.MustCompile(`^(image|audio)/[a-z0-9]+([.+-][a-z0-9]+)*(; ?[a-z]+=[a-z0-9]+)*$`)

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
		value := m.Value(object)
		switch googleKey(m.DecodedKey(object)) {
		case "contents", "systeminstruction", "content":
			c.each(value, c.turn)
		case "generationconfig", "embedcontentconfig":
			c.config(value)
		case "servicetier":
			if tier, ok := jsonscan.String(value); !ok || !slices.Contains(plainTiers, strings.ToLower(tier)) {
				c.unpriced("serviceTier")
			}
		case "requests":
			c.each(value, c.embedding)
		}
	}
}

// embedding reads a request of a batch.
func (c *googleContent) embedding(object []byte) {
	c.known(object, EmbedFields)
	c.request(object)
}

// known notes a member of an object whose price is not known.
func (c *googleContent) known(object []byte, fields Fields) {
	for m := range jsonscan.AllMembers(object) {
		if key := m.DecodedKey(object); m.Kind != 'n' && !fields[googleKey(key)] {
			c.unpriced(string(key[:min(len(key), maxTypeName)]))
		}
	}
}

func (c *googleContent) config(object []byte) {
	for m := range jsonscan.AllMembers(object) {
		key, value := m.DecodedKey(object), m.Value(object)
		switch name := googleKey(key); {
		case m.Kind == 'n' || googleConfig[name]:
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
func (c *googleContent) turn(object []byte) {
	c.known(object, googleTurn)
	c.each(googleMember(object, "parts"), c.part)
}

func (c *googleContent) part(object []byte) {
	c.known(object, googlePart)
	for m := range jsonscan.AllMembers(object) {
		value := m.Value(object)
		switch key := googleKey(m.DecodedKey(object)); {
		case m.Kind == 'n':
		case key == "inlinedata":
			c.each(value, c.data)
		case key == "filedata":
			c.unpriced("file")
		case key == "functionresponse":
			c.each(value, c.response)
		}
	}
}

// response reads the answer of a function.
func (c *googleContent) response(object []byte) {
	c.known(object, googleResponse)
	c.each(googleMember(object, "parts"), c.part)
}

// data reads what is sent in base64.
func (c *googleContent) data(object []byte) {
	c.known(object, googleData)
	media, _ := jsonscan.String(googleMember(object, "mimetype"))
	switch found := googleMedia.FindStringSubmatch(strings.ToLower(media)); {
	case found == nil:
		c.unpriced("file")
	case found[1] == "image":
		c.Images++
		c.Encoded += int64(len(googleMember(object, "data")))
	default:
		c.Units[units.AudioInput] = 1
		data := googleMember(object, "data")
		length, ok := googleAudio(data, media)
		c.Sounds.add(length, ok, len(data))
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

// each is [each] where nothing else has a known price.
func (c *googleContent) each(value []byte, f func(object []byte)) {
	if !each(value, f) {
		c.unpriced("content")
	}
}

// each calls f for an object, or for each object of an array. It reports whether there is nothing else.
func each(value []byte, f func(object []byte)) bool {
	switch {
	case len(value) == 0:
	case value[0] == '{':
		f(value)
	case value[0] == '[':
		all := true
		for e := range jsonscan.AllElements(value) {
			if e.Kind != '{' {
				all = false
				continue
			}
			f(e.Value(value))
		}
		return all
	default:
		return false
	}
	return true
}
