package params_test

import (
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/openai/params"
)

func TestParseChat(t *testing.T) {
	b := strict(t, `{"messages":[],"model":"a/b","stream":true,"stream_options":{"include_usage":true}}`)
	req, err := params.ParseChat(b)
	if err != nil || req.Model != "a/b" || !req.Stream || !req.IncludeUsage {
		t.Fatalf("%+v %v", req, err)
	}
	b = strict(t, `{"messages":[],"model":"a/b","stream":null,"stream_options":null}`)
	if req, err = params.ParseChat(b); err != nil || req.Stream || req.IncludeUsage {
		t.Fatalf("%+v %v", req, err)
	}
}

func TestTheFirstOfModelsStandsForAnAbsentModel(t *testing.T) {
	for body, want := range map[string]string{
		`{"models":["a/b","c/d"],"input":"x"}`:            `{"models":["a/b","c/d"],"input":"x","model":"b"}`,
		`{"model":null,"models":["a/b"],"input":"x"}`:     `{"model":"b","models":["a/b"],"input":"x"}`,
		`{"models":["e/f"],"input":"x","model":"a/b"}`:    `{"models":["e/f"],"input":"x","model":"b"}`,
		`{"models":[],"input":"x"}`:                       "",
		`{"models":"a/b","input":"x"}`:                    "",
		`{"model":"","models":["a/b"],"input":"x"}`:       "",
		`{"model":null,"models":null,"input":"x"}`:        "",
		`{"models":[{"model":"a/b"}],"input":"x"}`:        "",
		`{"models":[""],"fallbacks":["a/b"],"input":"x"}`: "",
	} {
		b := strict(t, body)
		req, err := params.ParseResponses(b)
		if want == "" {
			if err == nil || apierror.From(err).Code != apierror.MissingParameter {
				t.Errorf("%s: %+v, %v", body, req, err)
			}
			continue
		}
		params.EncodeResponses(b, req, "b")
		if got := string(b.Append(nil)); err != nil || req.Model != "a/b" || got != want {
			t.Errorf("%s: %+v, %v, sent as %s", body, req, err, got)
		}
	}
}

func TestBadFieldsAreNamed(t *testing.T) {
	for body, want := range map[string]struct {
		code  apierror.Code
		param string
	}{
		`{"messages":[]}`:                                                      {apierror.MissingParameter, "model"},
		`{"model":null,"messages":[]}`:                                         {apierror.MissingParameter, "model"},
		`{"model":"","messages":[]}`:                                           {apierror.MissingParameter, "model"},
		`{"model":7,"messages":[]}`:                                            {apierror.InvalidValue, "model"},
		`{"model":"a"}`:                                                        {apierror.MissingParameter, "messages"},
		`{"model":"a","messages":null}`:                                        {apierror.MissingParameter, "messages"},
		`{"model":"a","messages":"hi"}`:                                        {apierror.InvalidValue, "messages"},
		`{"model":"a","messages":[],"stream":"yes"}`:                           {apierror.InvalidValue, "stream"},
		`{"model":"a","messages":[],"stream":1}`:                               {apierror.InvalidValue, "stream"},
		`{"model":"a","messages":[],"stream_options":true}`:                    {apierror.InvalidValue, "stream_options"},
		`{"model":"a","messages":[],"stream_options":{"include_usage":"yes"}}`: {apierror.InvalidValue, "stream_options.include_usage"},
		`{"Model":"a","messages":[]}`:                                          {apierror.InvalidValue, "Model"},
		`{"model":"a","messages":[],"Stream":true}`:                            {apierror.InvalidValue, "Stream"},
		`{"model":"a","messages":[],"Previous_Response_ID":"r"}`:               {apierror.InvalidValue, "Previous_Response_ID"},
	} {
		b := strict(t, body)
		_, err := params.ParseChat(b)
		e := apierror.From(err)
		if err == nil || e.Code != want.code || e.Param != want.param || e.HTTPStatus() != 400 {
			t.Errorf("%s: %v (param %q)", body, err, e.Param)
		}
	}
}

func TestParseResponses(t *testing.T) {
	for _, good := range []string{`{"model":"a","input":"hi"}`, `{"model":"a","input":[],"stream":true,"X-Own":1}`} {
		b := strict(t, good)
		if req, err := params.ParseResponses(b); err != nil || req.Model != "a" || req.Stream != strings.Contains(good, "stream") {
			t.Errorf("%s: %+v %v", good, req, err)
		}
	}
	for bad, param := range map[string]string{`{"model":"a"}`: "input", `{"model":"a","input":{}}`: "input", `{"input":""}`: "model",
		`{"model":"a","input":"","stream":{}}`: "stream", `{"model":"a","input":"","stream_options":1}`: "stream_options", `{"model":"a","INPUT":""}`: "INPUT"} {
		b := strict(t, bad)
		if _, err := params.ParseResponses(b); err == nil || apierror.From(err).Param != param {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

func TestTheProviderIsAlwaysAskedForUsage(t *testing.T) {
	for in, want := range map[string]string{
		`{"model":"p/m","messages":[]}`:                                                                                  `{"model":"m","messages":[]}`,
		`{"model":"p/m","messages":[],"stream":true}`:                                                                    `{"model":"m","messages":[],"stream":true,"stream_options":{"include_usage":true}}`,
		`{"model":"p/m","messages":[],"stream":true,"stream_options":null,"x": 1}`:                                       `{"model":"m","messages":[],"stream":true,"stream_options":{"include_usage":true},"x": 1}`,
		`{"stream_options":{"include_usage":false},"model":"p/m","messages":[],"stream":true}`:                           `{"stream_options":{"include_usage":true},"model":"m","messages":[],"stream":true}`,
		`{"stream_options":{"include_obfuscation":false,"y":1},"model":"p/m","messages":[],"stream":true}`:               `{"stream_options":{"y":1,"include_usage":true},"model":"m","messages":[],"stream":true}`,
		`{"stream_options":{"include_\u0075sage":false,"include_usage":true},"model":"p/m","messages":[],"stream":true}`: `{"stream_options":{"include_\u0075sage":true},"model":"m","messages":[],"stream":true}`,
	} {
		b := strict(t, in)
		req, err := params.ParseChat(b)
		if err != nil {
			t.Fatal(err)
		}
		params.EncodeChat(b, req, "m", false)
		if got := string(b.Append(nil)); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

func TestEncodeResponses(t *testing.T) {
	for in, want := range map[string]string{
		`{"model":"p/m","input":"x","stream":true}`:                                               `{"model":"m","input":"x","stream":true}`,
		`{"model":"p/m","input":"x","stream":true,"stream_options":{"include_obfuscation":true}}`: `{"model":"m","input":"x","stream":true,"stream_options":{}}`,
	} {
		b := strict(t, in)
		req, err := params.ParseResponses(b)
		if err != nil {
			t.Fatal(err)
		}
		params.EncodeResponses(b, req, "m")
		if got := string(b.Append(nil)); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}
