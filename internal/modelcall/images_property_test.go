package modelcall

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/catalog"
	"github.com/gatehouse-proxy/gatehouse/internal/modelcall/wire"
	"github.com/gatehouse-proxy/gatehouse/internal/units"
)

// drawnUsage is what a provider may report of n pictures of at most so many tokens each.
func drawnUsage(r *rand.Rand, n, each, prompt int64) string {
	output, input := r.Int64N(n*each+1), 1+r.Int64N(prompt)
	usage := fmt.Sprintf(`{"input_tokens":%d,"output_tokens":%d,"total_tokens":%d,"input_tokens_details":{"text_tokens":%d,"image_tokens":%d}`, input, output, input+output, input/2, input-input/2)
	if r.IntN(2) == 0 {
		usage += fmt.Sprintf(`,"output_tokens_details":{"text_tokens":%d,"image_tokens":%d}`, output/3, output-output/3)
	}
	return usage + "}"
}

// No call for pictures is charged more than it reserved, whatever it asks for and however it ends, and
// none that was served is free.
func TestPicturesAreChargedAtMostWhatWasReserved(t *testing.T) {
	r := rand.New(rand.NewPCG(28, 4))
	quote := func() catalog.Quote {
		if r.IntN(3) == 0 {
			return catalog.Quote{}
		}
		return catalog.Quoted(catalog.Rate(1 + r.Int64N(1e11)))
	}
	served := 0
	for range 100 {
		price := &catalog.Price{Rates: catalog.Rates{Prompt: quote(), Completion: quote()}}
		price.Units[units.ImageInput], price.Units[units.ImageOutput], price.Units[units.Images] = quote(), quote(), quote()
		n, partial, stream := 1+r.Int64N(4), r.Int64N(4), r.IntN(2) == 0
		each := 1 + r.Int64N(9000)
		body := fmt.Sprintf(`{"model":"acme/m","prompt":"%s","n":%d,"partial_images":%d,"stream":%v}`, strings.Repeat("x", r.IntN(50)+1), n, partial, stream)
		var answer strings.Builder
		usage := fmt.Sprintf(`,"usage":%s`, drawnUsage(r, n, each+100*partial, int64(len(body))))
		if r.IntN(3) == 0 {
			usage = ""
		}
		if stream {
			for i := range n {
				for range partial {
					answer.WriteString("event: image_generation.partial_image\ndata: {\"type\":\"image_generation.partial_image\"}\n\n")
				}
				fmt.Fprintf(&answer, "event: image_generation.completed\ndata: {\"type\":\"image_generation.completed\"%s}\n\n", map[bool]string{true: usage}[i == n-1])
			}
		} else {
			fmt.Fprintf(&answer, `{"created":1,"data":[%s{"url":"x"}]%s}`, strings.Repeat(`{"url":"x"},`, int(n-1)), usage)
		}
		text := answer.String()
		if r.IntN(4) == 0 {
			text = text[:r.IntN(len(text))]
		}
		var rig *rig
		var reserved int64
		rig = newRig(t, roundTrip(func(*http.Request) (*http.Response, error) {
			reserved = rig.balance(t).Reserved
			h := http.Header{"Content-Type": {map[bool]string{true: "text/event-stream", false: "application/json"}[stream]}}
			return &http.Response{StatusCode: 200, Header: h, ContentLength: -1, Body: io.NopCloser(strings.NewReader(text))}, nil
		}), limited(budget(t, "100000usd/day")))
		m := &rig.models.model
		m.Mode, m.Price = catalog.ModeImages, price
		if r.IntN(4) > 0 {
			m.MaxUnits[units.ImageOutput] = each
		}
		_ = rig.serveTo(t, httptest.NewRecorder(), post(strings.NewReader(body), int64(len(body))), wire.Images)
		if reserved == 0 {
			continue
		}
		served++
		if spent := rig.balance(t).Spent; spent > reserved || spent == 0 && rig.rows(t)[0].Code == "" {
			t.Fatalf("charged %d, reserved %d\n%s\n%s\n%+v\n%+v", spent, reserved, body, text, price.Rates, rig.rows(t)[0])
		}
	}
	if served < 30 {
		t.Errorf("%d calls were served", served)
	}
}
