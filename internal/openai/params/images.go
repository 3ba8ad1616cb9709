package params

import (
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/units"
)

// ParseImages reads a request to make pictures as [ParseEmbeddings] does. It must have `prompt`, a text.
func ParseImages(b *jsonscan.Body) (Request, error) {
	req, err := parse(b, "prompt", `"`, "a string")
	req.Choices = choices(b)
	return req, err
}

// Picture is what a request says of each picture that it asks for.
type Picture struct {
	Quality, Size string // "" if the provider decides
	Partial       int64  // pictures that are sent before it is complete
}

// ImageLimits is [ChatLimits] for a request that [ParseImages] accepted.
func ImageLimits(b *jsonscan.Body) (RequestedLimits, error) {
	l := RequestedLimits{Choices: 1}
	n, err := within(b, "n", 1)
	if err != nil {
		return l, err
	}
	l.Units[units.Images] = n
	l.Picture = Picture{Quality: word(b, "quality"), Size: word(b, "size")}
	if _, ok := member(b, "partial_images"); ok {
		l.Picture.Partial, err = within(b, "partial_images", 0)
	}
	return l, err
}

// word returns a text of the request, "" if it has none.
func word(b *jsonscan.Body, key string) string {
	s, _ := jsonscan.String(value(b, key))
	return s
}

// partialTokens is what a picture costs that is sent before it is complete (OpenAI).
const partialTokens = 100

// pictureTokens has the tokens of a picture by quality and size, as OpenAI publishes them for its models
// before gpt-image-2.
var pictureTokens = map[string]map[string]int64{
	"low":    {"1024x1024": 272, "1024x1536": 408, "1536x1024": 400},
	"medium": {"1024x1024": 1056, "1024x1536": 1584, "1536x1024": 1568},
	"high":   {"1024x1024": 4160, "1024x1536": 6240, "1536x1024": 6208},
}

// tokens returns the most tokens of the picture alone: the dearest that it can mean.
func (p Picture) tokens() (most int64) {
	for quality, sizes := range pictureTokens {
		if _, known := pictureTokens[p.Quality]; known && quality != p.Quality {
			continue
		}
		for size, tokens := range sizes {
			if _, known := sizes[p.Size]; !known || size == p.Size {
				most = max(most, tokens)
			}
		}
	}
	return most
}

// Made is the most that an answer has besides text.
type Made struct {
	Units units.Counts
	Guess bool // it may have more

	Prompt int64 // tokens of the request that its text has not
	Text   int64 // tokens of an answer that is text which no field limits
}

// Output returns the tokens of the answer.
func (m Made) Output() int64 { return m.Units.Output() + m.Text }

// likelyPicture is a guess of the tokens of a picture.
const likelyPicture = 1_024

// tabledModels begins the names of the models whose pictures have the tokens of that table.
const tabledModels = "gpt-image-1"

// Pictures is the most that a model uses for the pictures of a request, within the most that one picture
// can use: 0 if that is not known. Per picture is how a model is paid whose tokens do not count.
func (l *RequestedLimits) Pictures(model string, most units.Counts, perPicture bool) (made Made) {
	n, each := l.Units[units.Images], most[units.ImageOutput]
	made.Units[units.Images] = n
	switch {
	case each > 0:
	case strings.HasPrefix(model[strings.LastIndexByte(model, '/')+1:], tabledModels):
		each = l.Picture.tokens()
	case perPicture:
		return made
	default:
		each, made.Guess = likelyPicture, true
	}
	made.Units[units.ImageOutput] = n * (each + l.Picture.Partial*partialTokens)
	return made
}

// pictureFields have the pictures of a request: one, or a list. In a form they are files.
var pictureFields = []string{"image", "image[]", "images", "input_references", "mask"}

// ImageContentOf is [ContentOf] for a request for pictures.
func ImageContentOf(b *jsonscan.Body) Content {
	c := ContentOf(b)
	for _, name := range pictureFields {
		pictures := value(b, name)
		c.Images += int64(count(pictures))
		c.Encoded += int64(len(pictures))
	}
	return c
}

// ImageReferences is [References] for a request for pictures: files in `images`, `mask` and
// `input_references`.
func ImageReferences(b *jsonscan.Body) (Refs, error) {
	return references(b, Refs{}, "prompt", "background") // a text, and a colour
}
