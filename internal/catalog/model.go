package catalog

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gatehouse-proxy/gatehouse/internal/units"
)

// MaxNameBytes bounds a model's name at its provider. Names come from catalog files, providers and
// callers; the longest in the public catalogs has under 100 bytes.
const MaxNameBytes = 256

// The modes that this gateway acts on, as the public price map spells them. Other modes
// (video_generation, …) are kept: models of such a mode are known but not callable.
const (
	ModeChat      = "chat"
	ModeResponses = "responses"
	ModeEmbedding = "embedding"
	ModeRerank    = "rerank"
	ModeModerates = "moderation"
	ModeCompletes = "completion"

	ModeImages        = "image_generation"
	ModeImageEdits    = "image_edit"
	ModeSpeech        = "audio_speech"
	ModeTranscription = "audio_transcription"
	ModeRealtime      = "realtime"
)

// Operations a model can serve, for Model.Serves.
const (
	OpChat        = "chat"
	OpResponses   = "responses"
	OpMessages    = "messages"
	OpCountTokens = "count_tokens"
	OpInputTokens = "input_tokens"
	OpCompact     = "compact"
	OpEmbeddings  = "embeddings"
	OpRerank      = "rerank"
	OpModerations = "moderations"
	OpCompletions = "completions"
	OpImages      = "images"
	OpImageEdits  = "image_edits"
	OpSpeech      = "speech"

	OpTranscriptions = "transcriptions"
	OpTranslations   = "translations"
	OpRouterImages   = "router_images"
	OpRealtime       = "realtime"

	OpGenerateContent    = "generate_content"
	OpCountContent       = "count_content"
	OpEmbedContent       = "embed_content"
	OpBatchEmbedContents = "batch_embed_contents"
)

// Model is one model as lists show it and as the router finds it. Values that Catalog returns share
// their slices and Price with the index: they must not be changed.
type Model struct {
	ID       string // "<provider>/<name>", as callers name it
	Provider string // text before the first slash of ID
	Name     string // the provider's own name, sent upstream unchanged; may contain slashes and colons
	Base     string // the model that Name is a deployment of; "" = Name is the model

	DisplayName         string // for people; Resolve and List fill in Name
	Description         string
	Mode                string            // empty: unknown; the provider decides what the model serves
	Created             int64             // Unix seconds; 0: unknown
	ContextLength       int64             // tokens; 0: unknown
	MaxOutput           int64             // tokens; 0: unknown
	InputModalities     []string          // text, image, audio, file, video; Resolve and List fill in text
	OutputModalities    []string          // likewise, embeddings for a model of mode embedding
	SupportedParameters []string          // in OpenRouter's words (tools, response_format, …); only what the source stated
	Price               *Price            // nil: unknown, which is not free
	Variants            map[string]*Price // other prices, by the names of variants
	Moderated           bool              // the provider filters content on its own
	OwnedBy             string            // Resolve and List fill in Provider
	MaxUnits            units.Counts      // the most of a unit that one picture or one answer uses; 0: unknown
	Known               bool              // a file, the provider or its block names it; false for names that only `*` admits

	// Capabilities replaces those of the model's name; nil: see MessagesRules.
	Capabilities *Capabilities
}

// Serves reports whether the model can be called by an operation, one of the Op constants. A chat
// model serves all that write text (package provider translates if necessary), a responses or an
// embedding model only its own. A model of unknown mode serves all: many servers list models without
// saying what they are.
func (m Model) Serves(op string) bool {
	switch op {
	case OpChat, OpMessages, OpCountTokens, OpGenerateContent, OpCountContent:
		return m.Mode == ModeChat || m.Mode == ""
	case OpResponses, OpInputTokens, OpCompact:
		return m.Mode == ModeChat || m.Mode == ModeResponses || m.Mode == ""
	case OpEmbeddings, OpEmbedContent, OpBatchEmbedContents:
		return m.Mode == ModeEmbedding || m.Mode == ""
	case OpRerank:
		return m.Mode == ModeRerank || m.Mode == ""
	case OpModerations:
		return m.Mode == ModeModerates || m.Mode == ""
	case OpCompletions: // many servers complete with their chat models too
		return m.Mode == ModeCompletes || m.Mode == ModeChat || m.Mode == ""
	case OpImages, OpRouterImages:
		return m.Mode == ModeImages || m.Mode == ""
	case OpImageEdits:
		return m.Mode == ModeImageEdits || m.Mode == ModeImages || m.Mode == ""
	case OpTranscriptions, OpTranslations:
		return m.Mode == ModeTranscription || m.Mode == ""
	case OpRealtime:
		return m.Mode == ModeRealtime || m.Mode == ""
	case OpSpeech:
		return m.Mode == ModeSpeech || m.Mode == ""
	}
	return false
}

// Generates reports whether the model may write text.
func (m Model) Generates() bool { return m.Serves(OpChat) || m.Serves(OpResponses) }

// InputPicture returns the most tokens of a picture in a prompt, usual if the catalog does not say it.
func (m *Model) InputPicture(usual int64) int64 { return cmp.Or(m.MaxUnits[units.ImageInput], usual) }

// searches reports whether a model with this name in a public list searches the web in every call.
// The lists state the fee of that like the fee of an option, which most models have.
func searches(name string) bool { return searchName.MatchString(name) }

var searchName = regexp.MustCompile(`(?i)(?:\A|[^a-z0-9])(?:search|sonar|online)(?:[^a-z0-9]|\z)`)

// over returns m with its gaps filled from base. Prices are taken whole: rates of two sources are
// never mixed.
func (m Model) over(base Model) Model {
	fill(&m.Base, base.Base)
	fill(&m.DisplayName, base.DisplayName)
	fill(&m.Description, base.Description)
	fill(&m.Mode, base.Mode)
	fill(&m.Created, base.Created)
	fill(&m.ContextLength, base.ContextLength)
	fill(&m.MaxOutput, base.MaxOutput)
	if m.Price == nil {
		m.Price, m.Variants = base.Price, base.Variants
	}
	for u := range m.MaxUnits {
		fill(&m.MaxUnits[u], base.MaxUnits[u])
	}
	fill(&m.OwnedBy, base.OwnedBy)
	fill(&m.Capabilities, base.Capabilities)
	if m.InputModalities == nil {
		m.InputModalities = base.InputModalities
	}
	if m.OutputModalities == nil {
		m.OutputModalities = base.OutputModalities
	}
	if m.SupportedParameters == nil {
		m.SupportedParameters = base.SupportedParameters
	}
	m.Moderated = m.Moderated || base.Moderated
	return m
}

func fill[T comparable](dst *T, value T) {
	var zero T
	if *dst == zero {
		*dst = value
	}
}

// as returns m as provider's model called name, with the gaps filled that a list must not show.
func (m Model) as(provider, name string) Model {
	m.ID, m.Provider, m.Name = provider+"/"+name, provider, name
	output := textOnly
	switch m.Mode {
	case ModeEmbedding:
		output = embeddingsOnly
	case ModeImages, ModeImageEdits:
		output = imagesOnly
	case ModeSpeech:
		output = audioOnly
	}
	return m.over(Model{
		DisplayName:      name,
		InputModalities:  textOnly,
		OutputModalities: output,
		OwnedBy:          provider,
	})
}

// callable reports whether the model serves any of our operations.
func (m Model) callable() bool {
	return m.Generates() || m.Serves(OpEmbeddings) || m.Serves(OpRerank) || m.Serves(OpModerations) || m.Serves(OpCompletions) ||
		m.Serves(OpSpeech) || m.Serves(OpTranscriptions) || m.Serves(OpImages) || m.Serves(OpImageEdits) || m.Serves(OpRealtime)
}

var (
	textOnly       = slices.Clip([]string{"text"})
	imagesOnly     = slices.Clip([]string{"image"})
	audioOnly      = slices.Clip([]string{"audio"})
	embeddingsOnly = slices.Clip([]string{"embeddings"})
)

// checkName refuses names that cannot be sent, shown or logged unchanged.
func checkName(name string) error {
	switch {
	case name == "":
		return errors.New("name is empty")
	case len(name) > MaxNameBytes:
		return fmt.Errorf("name has %d bytes, more than %d", len(name), MaxNameBytes)
	case !utf8.ValidString(name) || strings.ContainsRune(name, utf8.RuneError):
		return errors.New("name is not UTF-8")
	}
	for _, r := range name {
		if !unicode.IsPrint(r) {
			return fmt.Errorf("name contains the character %q", r)
		}
	}
	return nil
}

// checkProvider is checkName for a provider as catalog files name it: the text before the first
// slash of an ID.
func checkProvider(name string) error {
	if strings.Contains(name, "/") {
		return errors.New("provider contains a slash")
	}
	if err := checkName(name); err != nil {
		return fmt.Errorf("provider: %w", err)
	}
	return nil
}
