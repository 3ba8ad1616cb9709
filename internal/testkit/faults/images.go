package faults

import (
	"bytes"
	"encoding/json"
	"fmt"
	"mime"
	"mime/multipart"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/answers"
)

// The tokens of a picture, and of a prompt.
const (
	pictureTokens = 272
	picturePrompt = 10
)

// imageRequest is a call for pictures.
type imageRequest struct {
	Model, Prompt string
	N             int
	Stream        bool
	Partial       int `json:"partial_images"`
}

// imagesBody reads the body of a call of POST /images/generations.
func imagesBody(_ *http.Request, body []byte) (*answers.Request, func(*call) script, error) {
	var raw imageRequest
	if err := json.Unmarshal(body, &raw); err != nil || raw.Prompt == "" {
		return nil, nil, fmt.Errorf("want a prompt: %w", err)
	}
	return &answers.Request{Model: raw.Model}, raw.answer, nil
}

// editsBody reads the body of a call of POST /images/edits: JSON, or a form with at least one picture.
func editsBody(r *http.Request, body []byte) (*answers.Request, func(*call) script, error) {
	_, params, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if params["boundary"] == "" {
		return imagesBody(r, body)
	}
	f, err := multipart.NewReader(bytes.NewReader(body), params["boundary"]).ReadForm(maxBody)
	if err != nil || len(f.File["image"])+len(f.File["image[]"]) == 0 || len(f.Value["model"]) != 1 || len(f.Value["prompt"]) != 1 {
		return nil, nil, fmt.Errorf("want a model, a prompt and pictures: %w", err)
	}
	raw := imageRequest{Model: f.Value["model"][0], Prompt: f.Value["prompt"][0]}
	raw.Stream = slices.Equal(f.Value["stream"], []string{"true"})
	for name, number := range map[string]*int{"n": &raw.N, "partial_images": &raw.Partial} {
		if text := f.Value[name]; len(text) == 1 {
			if *number, err = strconv.Atoi(text[0]); err != nil {
				return nil, nil, err
			}
		}
	}
	return &answers.Request{Model: raw.Model}, raw.answer, nil
}

// answer is pictures whose bytes are the prompt. The model "no-usage" has URLs instead, as DALL-E does.
func (r *imageRequest) answer(c *call) script {
	n := max(r.N, 1)
	if r.Stream && c.mode.name != "no-stream" {
		return c.streamScript(r.events(c, n), c.chatError())
	}
	data := make([]map[string]any, n)
	for i := range data {
		data[i] = map[string]any{"b64_json": r.Prompt}
		if c.api == openRouter {
			data[i]["media_type"] = "image/png"
		}
		if c.mode.name == "no-usage" {
			data[i] = map[string]any{"url": "https://pictures.example/" + strings.Repeat("a", i+1), "revised_prompt": r.Prompt}
		}
	}
	answer := map[string]any{"created": c.reply.Created, "data": data}
	if c.mode.name != "no-usage" {
		answer["usage"] = imageUsage(c.api, n)
	}
	return whole(http.StatusOK, "application/json", answers.Encode(answer))
}

// events are the pictures as OpenAI and OpenRouter stream them.
func (r *imageRequest) events(c *call, n int) (events []event) {
	kind, created := "image_generation", "created_at"
	if c.api == openRouter {
		created = "created"
	}
	if strings.HasSuffix(c.http.URL.Path, "/edits") {
		kind = "image_edit"
	}
	add := func(name, member string, value any) {
		data := object(nil).With("type", kind+name).With("b64_json", r.Prompt).With(created, c.reply.Created).With(member, value)
		events = append(events, event{Name: kind + name, Text: true, Data: data})
	}
	for range n {
		for i := range r.Partial {
			add(".partial_image", "partial_image_index", i)
		}
		add(".completed", "usage", imageUsage(c.api, 1))
	}
	if c.api == openRouter {
		events = append(events, answers.Done)
	}
	return events
}

func imageUsage(a api, n int) any {
	output := n * pictureTokens
	if a == openRouter {
		return object(nil).With("prompt_tokens", picturePrompt).With("completion_tokens", output).With("total_tokens", picturePrompt+output).
			With("completion_tokens_details", object(nil).With("image_tokens", output))
	}
	return map[string]any{
		"input_tokens": picturePrompt, "output_tokens": output, "total_tokens": picturePrompt + output,
		"input_tokens_details": map[string]int{"text_tokens": picturePrompt, "image_tokens": 0},
	}
}
