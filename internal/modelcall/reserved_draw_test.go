package modelcall

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/catalog"
	"github.com/gatehouse-proxy/gatehouse/internal/modelcall/wire"
	"github.com/gatehouse-proxy/gatehouse/internal/units"
)

// drawn is a random call, and the most that an honest provider can say that it used.
type drawn struct {
	*rand.Rand
	price  string
	model  catalog.Model
	body   string
	header http.Header
	path   wire.Path

	prompt     int64        // tokens of the prompt besides the bytes of the request
	completion int64        // of the answer besides the limit in the request that is sent
	units      units.Counts // of those that a request can mean
	speaks     bool         // the answer may be sound
	hears      bool         // so may a part of the prompt
}

// priceFields are the rates of our own form of a catalog.
var priceFields = strings.Fields(`prompt completion cache_read cache_write cache_hour reasoning
	audio_input audio_output image_input image_output ` + unitFields)

// unitFields are those of what is no token.
const unitFields = "query image character second request"

// newDrawn draws a model: its price is read as the catalog reads it.
func newDrawn(t *testing.T, r *rand.Rand) *drawn {
	d := &drawn{Rand: r, header: http.Header{"Anthropic-Version": {"2023-06-01"}}}
	priced, members := d.rates(priceFields)
	if _, tier := d.rates(priced); d.IntN(3) == 0 {
		members = append(members, `"tiers":[`+set(append(tier, fmt.Sprintf(`"from":%d`, 1+d.IntN(100)))...)+`]`)
	}
	d.price = set(members...)
	models, err := catalog.Parse([]byte(`{"models":[{"id":"acme/m","price":` + d.price + `}]}`))
	if err != nil {
		t.Fatal(err)
	}
	d.model = models[0]
	if d.IntN(3) == 0 {
		d.model.Price.Pictures = []catalog.PictureRate{
			{Quality: "low", Size: "1024x1536", Rate: 3e15}, {Quality: "high", Size: "1024x1536", Rate: 9e15}, {Quality: "high", Size: "512x512", Rate: 7e15},
		}
	}
	if d.IntN(3) == 0 {
		d.model.MaxOutput = 1 + d.Int64N([]int64{500, 100_000}[d.IntN(2)])
	}
	for u := range d.model.MaxUnits {
		if d.IntN(2) == 0 {
			d.model.MaxUnits[u] = 1 + d.Int64N(300)
		}
	}
	return d
}

// rates gives some of the fields a rate.
func (d *drawn) rates(fields []string) (some, rates []string) {
	for _, field := range fields {
		if d.IntN(2) == 0 || field == "prompt" && d.IntN(2) == 0 {
			each := 50 // USD for a million tokens
			if strings.Contains(unitFields, field) {
				each = 500_000
			}
			some, rates = append(some, field), append(rates, fmt.Sprintf(`%q:"%d.%03d"`, field, d.IntN(each), 1+d.IntN(999)))
		}
	}
	return some, rates
}

// text is a random text, of which no token has less than a byte.
func (d *drawn) text() string { return strings.Repeat("x", 1+d.IntN(400)) }

// oneOf returns one of the texts.
func (d *drawn) oneOf(texts ...string) string { return texts[d.IntN(len(texts))] }

// set makes an object of members, of which "" is none.
func set(members ...string) string {
	var some []string
	for _, m := range members {
		if m != "" {
			some = append(some, m)
		}
	}
	return "{" + strings.Join(some, ",") + "}"
}

// maybe returns the member or none.
func (d *drawn) maybe(format string, args ...any) string {
	if d.IntN(2) == 0 {
		return ""
	}
	return fmt.Sprintf(format, args...)
}

// limit is how long an answer may be: sometimes so long that a provider needs several requests for it.
func (d *drawn) limit() int64 {
	switch d.IntN(6) {
	case 0:
		return 60_000 + d.Int64N(200_000)
	case 1:
		return 1 + d.Int64N(9)
	}
	return 1 + d.Int64N(2_000)
}

// picture counts a picture of a prompt.
func (d *drawn) picture() { d.prompt += d.model.InputPicture(imageTokens) }

func (d *drawn) chat() {
	parts := `{"type":"text","text":"` + d.text() + `"}`
	for range d.IntN(3) {
		if d.IntN(4) == 0 {
			parts += `,{"type":"input_audio","input_audio":` + drawSound(d, "format", "wav") + `}`
		} else {
			d.picture()
			parts += d.oneOf(`,{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}`, `,{"type":"image_url","image_url":{"url":"https://a.example/b.png"}}`)
		}
	}
	predicted, modalities := "", ""
	if d.IntN(5) == 0 {
		text := d.text()
		d.completion += int64(len(text))
		predicted = `"prediction":{"type":"content","content":"` + text + `"}`
	}
	if d.IntN(4) == 0 {
		d.speaks = true
		modalities = `"modalities":["text","audio"],"audio":{"voice":"a","format":"wav"}`
	}
	d.body = set(`"model":"acme/m"`, `"messages":[{"role":"user","content":[`+parts+`]}]`, predicted, modalities, d.maybe(`"n":%d`, 1+d.IntN(3)),
		d.maybe(`"max_tokens":%d`, d.limit()), d.maybe(`"max_completion_tokens":%d`, d.limit()), d.maybe(`"stream":%v`, d.IntN(2) == 0),
		d.maybe(`"reasoning_effort":"low"`), d.maybe(`"service_tier":%q`, d.oneOf("flex", "default", "priority")))
}

func (d *drawn) responses() {
	d.body = set(`"model":"acme/m"`, d.input(), d.maybe(`"max_output_tokens":%d`, d.limit()), d.maybe(`"stream":true`))
}

func (d *drawn) inputTokens() { d.body = set(`"model":"acme/m"`, d.input()) }

func (d *drawn) input() string {
	parts := `{"type":"input_text","text":"` + d.text() + `"}`
	if d.IntN(2) == 0 {
		d.picture()
		parts += `,{"type":"input_image","image_url":"data:image/png;base64,AAAA"}`
	}
	return `"input":[{"role":"user","content":[` + parts + `]}]`
}

func (d *drawn) messages() {
	parts, limit, thinking := `{"type":"text","text":"`+d.text()+`"}`, d.limit(), ""
	if d.IntN(2) == 0 {
		d.picture()
		parts += `,{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}}`
	}
	if d.IntN(3) == 0 {
		limit += 1024
		thinking = `"thinking":{"type":"enabled","budget_tokens":1024}`
	}
	d.body = set(`"model":"acme/m"`, fmt.Sprintf(`"max_tokens":%d`, limit), d.maybe(`"system":[{"type":"text","text":"a","cache_control":{"type":"ephemeral","ttl":%q}}]`, d.oneOf("5m", "1h")),
		`"messages":[{"role":"user","content":[`+parts+`]}]`, thinking, d.maybe(`"stream":true`))
}

func (d *drawn) embeddings() {
	d.body = set(`"model":"acme/m"`, d.oneOf(`"input":"`+d.text()+`"`, `"input":["`+d.text()+`","`+d.text()+`"]`, `"input":[1,2,3]`))
}

// rerank draws short documents for a long query, too: it is read with each of them.
func (d *drawn) rerank() {
	query, n := d.text(), 1+d.IntN(250)
	d.body = set(`"model":"acme/m"`, `"query":"`+query+`"`, `"documents":[`+strings.Repeat(`"ab",`, n-1)+`{"text":"`+d.text()+`"}]`, d.maybe(`"top_n":3`))
	d.prompt = int64((len(query) + 2) * (n - 1)) // with its quotes
	d.units[units.Queries] = int64(n+99) / 100
}

func (d *drawn) completions() {
	d.body = set(`"model":"acme/m"`, d.oneOf(`"prompt":"`+d.text()+`"`, `"prompt":["a","`+d.text()+`"]`, `"prompt":[[1,2],[3]]`), d.maybe(`"n":2`), d.maybe(`"best_of":3`),
		d.maybe(`"max_tokens":%d`, d.IntN(500)), d.maybe(`"stream":true`), d.maybe(`"suffix":"b"`))
}

func (d *drawn) images() {
	n, partial := 1+d.Int64N(4), d.Int64N(4)
	each := d.model.MaxUnits[units.ImageOutput]
	d.units[units.Images] = n
	if d.IntN(4) > 0 {
		partial = 0
	}
	if d.completion = n * (each + 100*partial); each == 0 && d.model.Price.PerPicture() { // no tokens are counted
		d.completion = 0
	}
	members := []string{`"model":"acme/m"`, `"prompt":"` + d.text() + `"`, fmt.Sprintf(`"n":%d`, n), d.maybe(`"stream":true`),
		d.maybe(`"quality":%q`, d.oneOf("low", "high", "auto")), d.maybe(`"size":%q`, d.oneOf("1024x1536", "auto", "512x512"))}
	if partial > 0 {
		members = append(members, fmt.Sprintf(`"partial_images":%d`, partial))
	}
	if d.IntN(2) == 0 {
		d.picture()
		d.prompt -= int64(len(`"data:image/png;base64,AAAA"`)) // which is no text
		members = append(members, `"image":"data:image/png;base64,AAAA"`)
	}
	d.body = set(members...)
}

func (d *drawn) speech() {
	text := d.text()
	d.units[units.Characters] = int64(len(text))
	d.units[units.AudioOutput], d.units[units.Millis] = d.model.MaxUnits[units.AudioOutput], d.model.MaxUnits[units.Millis]
	if d.units[units.AudioOutput] > 0 {
		d.units[units.Millis] = max(d.units[units.Millis], 50*d.units[units.AudioOutput])
	}
	if perToken, _ := d.model.Price.PerSound(); perToken { // else no tokens are counted
		d.completion, d.speaks = d.units[units.AudioOutput], true
	}
	d.body = set(`"model":"acme/m"`, `"voice":"a"`, `"input":"`+text+`"`, d.maybe(`"stream_format":"sse"`))
}

// transcription draws a sound with a header that says how long it is, or of an unknown kind.
func (d *drawn) transcription() {
	d.units[units.Millis] = 1 + d.Int64N(20_000)
	sound := wav(d.units[units.Millis])
	if d.IntN(3) == 0 {
		sound = bytes.Repeat([]byte("x"), 1+d.IntN(20_000))
	}
	d.hears, d.prompt, d.completion = true, d.units[units.Millis]*20/1000, d.units[units.Millis]*8/1000
	if perToken, _ := d.model.Price.PerHeard(); !perToken { // no tokens are counted
		d.prompt, d.completion = 0, 0
	}
	if most := d.model.MaxOutput; most > 0 {
		d.completion = min(d.completion, most)
	}
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	part, _ := w.CreatePart(textproto.MIMEHeader{"Content-Disposition": {`form-data; name="file"; filename="a.wav"`}})
	_, _ = part.Write(sound)
	_ = w.WriteField("model", "acme/m")
	text := d.text()
	_ = w.WriteField("prompt", text)
	_ = w.Close()
	d.body = b.String()
	d.prompt -= int64(len(d.body) - len(text)) // the sound is no text
	d.header.Set("Content-Type", w.FormDataContentType())
}

func (d *drawn) countContent() {
	d.generate()
	d.path.Stream = false
}

func (d *drawn) generate() {
	parts := `{"text":"` + d.text() + `"}`
	if d.IntN(2) == 0 {
		d.picture()
		parts += `,{"inlineData":{"mimeType":"image/png","data":"AAAA"}}`
	}
	if d.IntN(4) == 0 {
		parts += `,{"inlineData":` + drawSound(d, "mimeType", "audio/wav") + `}`
	}
	config := []string{d.maybe(`"maxOutputTokens":%d`, d.limit()), d.maybe(`"candidateCount":%d`, 1+d.IntN(3))}
	if d.IntN(4) == 0 {
		d.speaks = true
		config = append(config, `"responseModalities":["AUDIO"]`)
	}
	d.path = wire.Path{Model: "acme/m", Stream: d.IntN(2) == 0}
	d.body = set(`"contents":[{"role":"user","parts":[`+parts+`]}]`, `"generationConfig":`+set(config...))
}

func (d *drawn) embedContent() {
	d.path.Model = "acme/m"
	d.body = `{"content":{"parts":[{"text":"` + d.text() + `"}]}}`
}

func (d *drawn) embedContents() {
	d.path.Model = "acme/m"
	d.body = `{"requests":[` + strings.Repeat(`{"model":"models/acme/m","content":{"parts":[{"text":"a"}]}},`, d.IntN(5)) + `{"content":{"parts":[{"text":"` + d.text() + `"}]}}]}`
}
