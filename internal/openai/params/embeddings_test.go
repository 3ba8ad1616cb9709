package params_test

import (
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/openai/params"
	"github.com/gatehouse-proxy/gatehouse/internal/units"
)

func TestEmbeddingsCountWhatIsEmbedded(t *testing.T) {
	for input, want := range map[string]int{
		`"text"`: 1, `["a","b"]`: 2, `[1,2,3]`: 1, `[[1,2],[3]]`: 2, `[{"content":[{"type":"text","text":"x"}]}]`: 1, `[]`: 0,
	} {
		b := strict(t, `{"model":"a/b","input":`+input+`,"encoding_format":"base64","dimensions":8,"user":"u","input_type":"search_query"}`)
		if req, err := params.ParseEmbeddings(b); err != nil || req.Model != "a/b" {
			t.Errorf("%s: %+v, %v", input, req, err)
		}
		if got := params.EmbeddingsLimits(b); got.Messages != want || got.Output != 0 {
			t.Errorf("%s: %+v, want %d inputs", input, got, want)
		}
		if c := params.ContentOf(b); c != (params.Content{}) {
			t.Errorf("%s costs more than its bytes: %+v", input, c)
		}
	}
}

func TestWhatCannotBeEmbeddedIsRefusedByName(t *testing.T) {
	for body, want := range map[string]struct {
		code  apierror.Code
		param string
	}{
		`{"input":"x"}`:                              {apierror.MissingParameter, "model"},
		`{"model":"a"}`:                              {apierror.MissingParameter, "input"},
		`{"model":"a","input":null}`:                 {apierror.MissingParameter, "input"},
		`{"model":"a","input":7}`:                    {apierror.InvalidValue, "input"},
		`{"model":"a","input":{"content":[]}}`:       {apierror.InvalidValue, "input"},
		`{"model":"a","input":"x","stream":true}`:    {apierror.UnsupportedParameter, "stream"},
		`{"model":"a","input":"x","stream":"maybe"}`: {apierror.InvalidValue, "stream"},
		`{"model":"a","Input":"x"}`:                  {apierror.InvalidValue, "Input"},
	} {
		_, err := params.ParseEmbeddings(strict(t, body))
		if e := apierror.From(err); err == nil || e.Code != want.code || e.Param != want.param || e.HTTPStatus() != 400 {
			t.Errorf("%s: %v (param %q)", body, err, e.Param)
		}
	}
}

func TestInputsThatCostMoreThanTheirBytes(t *testing.T) {
	for input, want := range map[string]params.Content{
		`[{"content":[{"type":"image_url","image_url":{"url":"https://x.example"}}]}]`: {Images: 1},
		`[{"content":[{"type":"input_audio","input_audio":{}}]}]`:                      {Units: units.Counts{units.AudioInput: 1}, Sounds: params.Sounds{Count: 1, Unbounded: true}},
		`[{"content":[{"type":"file","file":{"file_data":"x"}}]}]`:                     {Unpriced: "file"},
		`[[1,{"type":"image_url"}]]`:                                                   {Unpriced: "content"},
	} {
		if got := params.ContentOf(strict(t, `{"input":`+input+`}`)); got != want {
			t.Errorf("%s: %+v, want %+v", input, got, want)
		}
	}
}
