package chatongemini

import (
	"bytes"
	"path"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/gemini"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/conversation"
)

// usualTypes are the media types of addresses whose names say nothing.
var usualTypes = map[conversation.Kind]string{conversation.Image: "image/jpeg", conversation.Video: "video/mp4", conversation.File: "application/pdf"}

// audioTypes are the media types of the formats of sound.
var audioTypes = map[string]string{"wav": "audio/wav", "mp3": "audio/mp3", "flac": "audio/flac", "ogg": "audio/ogg", "aac": "audio/aac", "aiff": "audio/aiff"}

// putMedia writes the member of a part that is no text: bytes, or an address that Google reads,
// with the media type that its name has, or else the usual one.
func (w *parts) putMedia(p *conversation.Part) {
	m := p.Media
	if p.Kind == conversation.Sound {
		word, _ := jsonscan.String(m.Format)
		if m.Type = audioTypes[word]; m.Type == "" {
			param := strings.TrimSuffix(m.Param, "data") + "format"
			w.body.Fail(translate.UnsupportedValue(param, word))
		}
		m.Encoded = true
	}
	url, _ := jsonscan.String(m.URL)
	switch {
	case m.Encoded && m.Type != "":
		w.Object("inlineData")
		w.StringMember("mimeType", m.Type)
		w.TextMember("data", bytes.TrimSpace(m.Data))
	case gemini.PublicURL(url):
		w.Object("fileData")
		w.StringMember("mimeType", mediaType(url, usualTypes[p.Kind]))
		w.Member("fileUri", m.URL)
	default:
		w.body.Fail(translate.NotTaken(m.Param,
			"%q must be a data URL in base64, or a public https URL outside Google's APIs: uploaded files and buckets belong to the provider's account", m.Param))
		return
	}
	w.End()
}

// resolution returns that of an image whose detail the caller gives, "" for the model's own.
func (w *parts) resolution(p *conversation.Part) string {
	switch detail, _ := jsonscan.String(p.Media.Detail); {
	case !w.model.signs() || p.Kind != conversation.Image:
		return ""
	case strings.EqualFold(detail, "low"), strings.EqualFold(detail, "high"):
		return strings.ToUpper(detail)
	}
	return ""
}

// mediaTypes are those of the endings of names.
var mediaTypes = map[string]string{
	".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".webp": "image/webp", ".gif": "image/gif", ".heic": "image/heic",
	".pdf": "application/pdf", ".txt": "text/plain", ".md": "text/markdown", ".csv": "text/csv", ".html": "text/html",
	".mp4": "video/mp4", ".mov": "video/quicktime", ".webm": "video/webm", ".mp3": "audio/mp3", ".wav": "audio/wav",
}

func mediaType(url, usual string) string {
	url, _, _ = strings.Cut(url, "?")
	if media := mediaTypes[strings.ToLower(path.Ext(url))]; media != "" {
		return media
	}
	return usual
}
