package params_test

import (
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/openai/params"
	"github.com/gatehouse-proxy/gatehouse/internal/units"
)

func TestPicturesAreBounded(t *testing.T) {
	for _, c := range []struct {
		body, model string
		most        int64 // of one picture, by the catalog
		perPicture  bool
		images      int64
		tokens      int64
		guess       bool
	}{
		{`{"quality":"high","size":"1536x1024","n":3,"partial_images":2}`, "gpt-image-1", 0, false, 3, 3*6208 + 600, false},
		{`{"quality":"low","size":"1024x1024"}`, "openai/gpt-image-1-mini", 0, false, 1, 272, false},
		{`{"quality":"low"}`, "gpt-image-1.5", 0, false, 1, 408, false},
		{`{"quality":"auto","size":"1024x1024"}`, "gpt-image-1", 0, false, 1, 4160, false},
		{`{"quality":7,"size":"auto","n":null}`, "gpt-image-1", 0, false, 1, 6240, false},
		{`{"quality":"low"}`, "gpt-image-1", 9000, false, 1, 9000, false},
		{`{"n":2}`, "gpt-image-2", 0, false, 2, 2048, true},
		{`{"n":2}`, "dall-e-3", 0, true, 2, 0, false},
	} {
		b := strict(t, c.body)
		l, err := params.ImageLimits(b)
		made := l.Pictures(c.model, units.Counts{units.ImageOutput: c.most}, c.perPicture)
		if want := (params.Made{Units: units.Counts{units.Images: c.images, units.ImageOutput: c.tokens}, Guess: c.guess}); err != nil || made != want {
			t.Errorf("%s of %s: %v, %v, want %v", c.body, c.model, made, err, want)
		}
	}
}

func TestWhatARequestForPicturesMayHave(t *testing.T) {
	b := strict(t, `{"model":"m","prompt":"x","background":"transparent","quality":"hd","mask":null,"images":[{"file_id":"file_1"},{"image_url":"data:image/png;base64,AAAA"}]}`)
	refs, err := params.ImageReferences(b)
	if err != nil || len(refs.IDs) != 1 || refs.IDs[0].ID != "file_1" || refs.Tools.Hosted != "" {
		t.Errorf("%+v, %v", refs, err)
	}
	if c := params.ImageContentOf(b); c.Images != 2 || c.Encoded == 0 || c.Unpriced != "" {
		t.Errorf("%+v", c)
	}
	if got := params.ImageEditFields.Unknown(b); got != "" {
		t.Errorf("%q", got)
	}
}
