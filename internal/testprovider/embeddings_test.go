package testprovider_test

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"testing"
)

type embeddings[V any] struct {
	Object, Model string
	Data          []struct {
		Object    string
		Index     int
		Embedding V
	}
	Usage struct {
		Prompt int `json:"prompt_tokens"`
		Total  int `json:"total_tokens"`
	}
}

func TestEmbeddingsAreUnitVectorsOfTheWords(t *testing.T) {
	got := post[embeddings[[]float64]](t, "/embeddings", `{"model":"echo","input":["red car","blue car","open sea"]}`)
	if got.Object != "list" || got.Model != "echo" || len(got.Data) != 3 || got.Usage.Prompt != 6 || got.Usage.Total != 6 {
		t.Fatalf("%+v", got)
	}
	product := func(i, k int) (sum float64) {
		for n, v := range got.Data[i].Embedding {
			sum += v * got.Data[k].Embedding[n]
		}
		return sum
	}
	for i, d := range got.Data {
		if d.Object != "embedding" || d.Index != i || len(d.Embedding) != 64 || math.Abs(product(i, i)-1) > 1e-6 {
			t.Errorf("%d: %+v, of length %v", i, d, product(i, i))
		}
	}
	if product(0, 1) < 0.3 || product(0, 2) > 0.3 {
		t.Errorf("a car is as near to a car (%v) as to the sea (%v)", product(0, 1), product(0, 2))
	}
}

func TestEmbeddingsComeInBase64(t *testing.T) {
	const body = `{"model":"echo","dimensions":8,"input":"some words"`
	floats := post[embeddings[[]float32]](t, "/embeddings", body+`,"encoding_format":"float"}`).Data[0].Embedding
	text := post[embeddings[string]](t, "/embeddings", body+`,"encoding_format":"base64"}`).Data[0].Embedding
	data, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(data) != 4*8 {
		t.Fatalf("%v: %d bytes", err, len(data))
	}
	for i, f := range floats {
		if got := math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:])); got != f {
			t.Errorf("%d: %v, want %v", i, got, f)
		}
	}
}

func TestEmbeddingsTakeTokens(t *testing.T) {
	for input, want := range map[string]int{`[1,2,3]`: 1, `[[1,2],[3]]`: 2, `["a",[3]]`: 2} {
		if got := post[embeddings[[]float64]](t, "/embeddings", `{"model":"echo","input":`+input+`}`); len(got.Data) != want || got.Usage.Prompt != strings.Count(input, ",")+1 && want == 1 {
			t.Errorf("%s: %d embeddings, %+v", input, len(got.Data), got.Usage)
		}
	}
}

func TestMistakesOfEmbeddingsAreRefused(t *testing.T) {
	for members, want := range map[string]string{
		`"input":"x"`:                                                      "400 invalid_request_error missing_required_parameter model",
		`"model":"gpt","input":"x"`:                                        "404 invalid_request_error model_not_found model",
		`"model":"fail","input":"x"`:                                       "500 server_error null null",
		`"model":"echo"`:                                                   "400 invalid_request_error missing_required_parameter input",
		`"model":"echo","input":""`:                                        "400 invalid_request_error invalid_value input",
		`"model":"echo","input":[]`:                                        "400 invalid_request_error invalid_value input",
		`"model":"echo","input":["a",null]`:                                "400 invalid_request_error invalid_value input",
		`"model":"echo","input":{"a":1}`:                                   "400 invalid_request_error invalid_value input",
		`"model":"echo","input":"x","dimensions":0`:                        "400 invalid_request_error invalid_value dimensions",
		`"model":"echo","input":"x","encoding_format":"hex"`:               "400 invalid_request_error invalid_value encoding_format",
		`"model":"echo","input":[` + strings.Repeat(`"x",`, 2048) + `"x"]`: "400 invalid_request_error invalid_value input",
	} {
		if got := refused(t, "POST", "/embeddings", fmt.Sprintf("{%s}", members)); got != want {
			t.Errorf("%.60s: %s, want %s", members, got, want)
		}
	}
}
