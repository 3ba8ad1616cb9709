package sdkgo_test

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
)

const fox = "a red fox"

// The SDK sorts the fields of a form: the file comes before the model.
func TestImagesOnlyFake(t *testing.T) {
	needFake(t)
	c := client(t)
	model := pick(t, c)
	var raw *http.Response
	reply, err := c.Images.Generate(ctx(t), openai.ImageGenerateParams{Model: model, Prompt: fox, N: openai.Int(2)}, option.WithResponseInto(&raw))
	if err != nil || len(reply.Data) != 2 || reply.Data[1].B64JSON != fox || reply.Usage.OutputTokens != 544 {
		t.Fatalf("%+v, %v", reply, err)
	}
	if r := find(t, raw.Header.Get("X-Request-Id"), model); r.Status != 200 || r.PromptTokens != 10 {
		t.Errorf("row is %+v", r)
	}
	stream := c.Images.GenerateStreaming(ctx(t), openai.ImageGenerateParams{Model: model, Prompt: fox, PartialImages: openai.Int(1)})
	var types []string
	for stream.Next() {
		types = append(types, stream.Current().Type)
	}
	if want := []string{"image_generation.partial_image", "image_generation.completed"}; stream.Err() != nil || !slices.Equal(types, want) {
		t.Errorf("events %v, %v", types, stream.Err())
	}
	file := func(text string) io.Reader {
		return openai.File(strings.NewReader("\x89PNG\r\n"+text), text+".png", "image/png")
	}
	for name, params := range map[string]openai.ImageEditParams{
		"a file":    {Image: openai.ImageEditParamsImageUnion{OfFile: file("one")}},
		"two files": {Image: openai.ImageEditParamsImageUnion{OfFileArray: []io.Reader{file("one"), file("two")}}},
		"a mask":    {Image: openai.ImageEditParamsImageUnion{OfFile: file("one")}, Mask: file("mask")},
	} {
		params.Model, params.Prompt = model, fox
		if edited, err := c.Images.Edit(ctx(t), params); err != nil || len(edited.Data) != 1 || edited.Data[0].B64JSON != fox {
			t.Errorf("%s: %+v, %v", name, edited, err)
		}
	}
	edits := c.Images.EditStreaming(ctx(t), openai.ImageEditParams{Model: model, Prompt: fox, Image: openai.ImageEditParamsImageUnion{OfFile: file("one")}})
	for types = nil; edits.Next(); {
		types = append(types, edits.Current().Type)
	}
	if edits.Err() != nil || !slices.Equal(types, []string{"image_edit.completed"}) {
		t.Errorf("events %v, %v", types, edits.Err())
	}
}
