package catalog

import (
	"math"
	"math/bits"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/units"
)

// PictureRate is the price of a picture of a quality and size, as requests say them: "hd", "1024x1792".
type PictureRate struct {
	Quality, Size string // "" for a price that does not depend on the quality
	Rate          Rate
}

// Pictured returns the price of a call that asks for pictures of a quality and size, each "" if it does
// not say. The picture costs what the dearest does that the request can mean: a word that no rate has,
// such as "auto", means any of them.
func (p *Price) Pictured(quality, size string) *Price {
	if p == nil || len(p.Pictures) == 0 {
		return p
	}
	for _, wanted := range [][2]string{{quality, size}, {quality, ""}, {"", ""}} {
		found := Quote{}
		for _, r := range p.Pictures {
			if p.mean(wanted[0], r.Quality, qualityOf) && p.mean(wanted[1], r.Size, sizeOf) {
				found = dearest(found, Quoted(r.Rate))
			}
		}
		if found.Known {
			own := *p
			own.Units[units.Images] = found
			return &own
		}
	}
	return p
}

func qualityOf(r PictureRate) string { return r.Quality }

func sizeOf(r PictureRate) string { return r.Size }

// mean reports whether a word of a request can mean a word of a rate.
func (p *Price) mean(word, rate string, of func(PictureRate) string) bool {
	return word == "" || word == rate || rate == "" || !slices.ContainsFunc(p.Pictures, func(r PictureRate) bool { return of(r) == word })
}

// pictureKey matches the keys of the price map that are no models, but prices of a picture:
//
//	[QUALITY/]WIDTH-x-HEIGHT/[STEPS/]MODEL
//
// No request names the steps: they count as a quality.
var pictureKey = regexp.MustCompile(`\A(?:([a-z]+)/)?([0-9]{2,5}|max)-?x-?([0-9]{2,5}|max)/(?:([a-z0-9]+-steps)/)?(.+)\z`)

// pictureVariant reads such an entry of the price map. It returns the ID of the model.
func pictureVariant(m member) (id string, rate PictureRate, ok bool, err error) {
	f := record(m.value)
	provider := catalogProvider(f.text("litellm_provider"))
	match := pictureKey.FindStringSubmatch(strings.TrimPrefix(m.key, provider+"/"))
	if match == nil || provider == "" {
		return "", rate, false, nil
	}
	var image, other, pixel, otherPixel Quote
	err = f.read(column{"input_cost_per_image", &image}, column{"output_cost_per_image", &other},
		column{"input_cost_per_pixel", &pixel}, column{"output_cost_per_pixel", &otherPixel})
	if image = dearest(image, other); !image.Known {
		image = dearest(pixel, otherPixel).each(match[2], match[3])
	}
	rate = PictureRate{match[1] + match[4], match[2] + "x" + match[3], image.Rate}
	return provider + "/" + strings.TrimPrefix(match[5], provider+"/"), rate, image.Known, err
}

// each returns the price of a picture from that of a pixel.
func (q Quote) each(width, height string) Quote {
	w, err := strconv.ParseUint(width, 10, 32)
	h, errHeight := strconv.ParseUint(height, 10, 32)
	hi, lo := bits.Mul64(uint64(q.Rate), w*h)
	if !q.Known || err != nil || errHeight != nil || hi > 0 || lo > math.MaxInt64 {
		return Quote{}
	}
	return Quoted(Rate(lo))
}

// addPictures gives a model the prices of its pictures, unless its usage counts the tokens of pictures:
// these are exact.
func (m *Model) addPictures(rates []PictureRate) {
	var own Price
	if m.Price != nil {
		own = *m.Price
	}
	if own.Completion.Rate > 0 || own.Units[units.ImageOutput].Rate > 0 {
		return
	}
	for _, r := range rates {
		own.Units[units.Images] = dearest(own.Units[units.Images], Quoted(r.Rate))
	}
	own.freeTokens()
	own.Pictures = rates
	m.Price = &own
}
