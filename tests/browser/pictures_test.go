//go:build linux

package browser

import (
	"bytes"
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/gatehouse-proxy/gatehouse/tests/desktop"
)

var pictures = flag.String("pictures", "", "write the pictures of the documentation into this folder: make pictures")

// mostOfAPicture is how large a picture of the documentation may be, in bytes.
const mostOfAPicture = 150_000

// The pictures of the documentation are made of one gateway with a week of calls.
func TestPicturesOfTheDocumentation(t *testing.T) {
	if *pictures == "" {
		t.Skip("-pictures says where they go")
	}
	const timeout = 3 * time.Minute
	providers := httptest.NewServer(http.HandlerFunc(demoProviders))
	t.Cleanup(providers.Close)
	s, form := demoGateway(t, providers.URL)
	b := newLongTab(t, s, timeout)
	b.signIn("ops")

	b.open("/console/models?sort=used")
	picture(b, "models", 640)
	b.open("/console/runs/4bf92f3577b34da6a3ce929d0e0e4736")
	picture(b, "run", 640)
	b.open("/console/usage?range=7d")
	picture(b, "usage", 900)
	b.open("/console/try")
	for field, text := range map[string]string{
		"model": "openai/gpt-5", "second": "anthropic/claude-haiku-4-5", "system": "You answer customers of a shop. Two or three sentences.",
		"text": "Ms Weber asks where her parcel is. It left on Tuesday and arrives on Friday.",
	} {
		evaluate[string](b, `document.querySelector("[name=`+field+`]").value = `+quote(text))
	}
	run(b, chromedp.Click(chromedp.CSS("form[data-try] button.main")))
	b.eventually("both answers have their rows", `document.querySelectorAll("#answers .note a").length === 2`, pageTimeout)
	picture(b, "try", 900)

	b.look(pictureWidth, "light")
	b.open(stationPath)
	b.says("Connected", lookTimeout)
	picture(b, "desktop", 900)
	agent := func(route, body string) {
		t.Helper()
		if status, answer := askAsAgent(t, s, route, body); status != http.StatusOK {
			t.Fatal(status, answer)
		}
	}
	agent("input", fmt.Sprintf(`{"actions":[%s,{"type":"type","text":"Order 20481, C. Weber"},%s,{"type":"type","text":"Sent on Tuesday, arrives on Friday"}]}`,
		clickInto(desktop.FormName), clickInto(desktop.FormNote)))
	agent("control", `{"action":"request_help","note":"The shop asks for a code that I do not have."}`)
	b.eventually("the agent asks", `document.querySelector(".hold [role=status]").textContent.includes("a code")`, inputTimeout)
	if got := form.Contents().Note; got != "Sent on Tuesday, arrives on Friday" {
		t.Errorf("the form has %q", got)
	}
	picture(b, "agent", 960)
	other := b.sibling()
	other.look(pictureWidth, "light")
	other.open("/console/")
	picture(other, "overview", 1150)
}

// pictureWidth is that of all pictures.
const pictureWidth = 1280

// picture writes what a window of this height shows.
func picture(b *tab, name string, height int64) {
	b.t.Helper()
	b.look(pictureWidth, "light")
	call(b, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: pictureWidth, Height: height, DeviceScaleFactor: 1})
	b.eventually("the files of "+name, `document.readyState === "complete"`, pageTimeout)
	b.check()
	reduced, err := reduce(run(b, chromedp.CaptureScreenshot()))
	if err == nil && len(reduced) > mostOfAPicture {
		err = fmt.Errorf("%d bytes, more than %d", len(reduced), mostOfAPicture)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(*pictures, name+".png"), reduced, 0o644)
	}
	if err != nil {
		b.t.Fatalf("%s: %v", name, err)
	}
}

// reduce makes a picture small: the 256 most frequent of its colours are kept, which are all but some edges of
// letters.
func reduce(picture []byte) ([]byte, error) {
	full, err := png.Decode(bytes.NewReader(picture))
	if err != nil {
		return nil, err
	}
	bounds, times := full.Bounds(), map[color.RGBA]int{}
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			times[color.RGBAModel.Convert(full.At(x, y)).(color.RGBA)]++
		}
	}
	var colours color.Palette
	for c := range times {
		colours = append(colours, c)
	}
	slices.SortFunc(colours, func(a, b color.Color) int { return times[b.(color.RGBA)] - times[a.(color.RGBA)] })
	few := image.NewPaletted(bounds, colours[:min(len(colours), 256)])
	draw.Draw(few, bounds, full, bounds.Min, draw.Src)
	var out bytes.Buffer
	err = (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&out, few)
	return out.Bytes(), err
}
