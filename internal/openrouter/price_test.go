package openrouter_test

import (
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openrouter"
)

func maxPrice(t *testing.T, in string) (string, error) {
	t.Helper()
	var b jsonscan.Body
	if err := b.Parse([]byte(in)); err != nil {
		t.Fatal(err)
	}
	said, err := openrouter.Preferences(&b)
	if err == nil {
		openrouter.SetProvider(&b, openrouter.WithMaxPrice(said, "0.15", "3"))
	}
	return string(b.Append(nil)), err
}

func TestOpenRouterIsToldTheMostItMayCost(t *testing.T) {
	const capped = `"max_price":{"prompt":0.15,"completion":3}`
	for in, want := range map[string]string{
		`{"model":"m"}`:                     `{"model":"m","provider":{` + capped + `}}`,
		`{"provider":null}`:                 `{"provider":{` + capped + `}}`,
		`{"provider":{}}`:                   `{"provider":{` + capped + `}}`,
		`{"provider":{"sort":"latency"}}`:   `{"provider":{"sort":"latency",` + capped + `}}`,
		`{"provider":{"max_price":"none"}}`: `{"provider":{` + capped + `}}`,
		`{"provider":{"max_price":{"prompt":9,"completion":"9e9","request":1}}}`:  `{"provider":{"max_price":{"request":1,"prompt":0.15,"completion":3}}}`,
		`{"provider":{"max_price":{"prompt":0.1,"completion":"2"},"only":["x"]}}`: `{"provider":{"only":["x"],"max_price":{"prompt":0.1,"completion":2}}}`,
	} {
		if got, err := maxPrice(t, in); got != want || err != nil {
			t.Errorf("%s\n got  %s %v\n want %s", in, got, err, want)
		}
	}
	const written = `{"model":"m","messages":[]}`
	want, _ := maxPrice(t, written)
	if got := openrouter.AppendProvider([]byte(written), openrouter.WithMaxPrice(nil, "0.15", "3")); string(got) != want {
		t.Errorf("a request of our own\n got  %s\n want %s", got, want)
	}
	if _, err := maxPrice(t, `{"provider":["x"]}`); err == nil || apierror.From(err).Param != "provider" || apierror.From(err).HTTPStatus() != 400 {
		t.Errorf("%v", err)
	}
}
