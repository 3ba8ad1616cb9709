package translate

import (
	"bytes"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

// Media is where the bytes of an image or a file are.
type Media struct {
	HTTPS   bool
	Encoded bool   // a data URL in base64
	Type    string // media type of a data URL
	Data    []byte // base64
}

// maxMedia bounds the part of a data URL before its data.
const maxMedia = 256

// otherTypes are media types that are written for others, which providers take.
var otherTypes = map[string]string{
	"image/jpg": "image/jpeg", "image/pjpeg": "image/jpeg", "image/x-png": "image/png", "application/x-pdf": "application/pdf",
	"text/x-markdown": "text/markdown", "audio/x-wav": "audio/wav", "audio/wave": "audio/wav", "audio/x-flac": "audio/flac",
}

// ReadMedia reads a quoted URL. Some clients escape the slashes of JSON.
func ReadMedia(quoted []byte) (m Media) {
	text := quoted[1 : len(quoted)-1]
	if bytes.IndexByte(text, '\\') >= 0 {
		decoded, _ := jsonscan.String(quoted)
		text = []byte(decoded)
	}
	if m.HTTPS = hasPrefixFold(text, "https://"); m.HTTPS || !hasPrefixFold(text, "data:") {
		return m
	}
	head, _, ok := bytes.Cut(text[:min(len(text), maxMedia)], []byte(","))
	if !ok {
		return m
	}
	data := text[len(head)+1:]
	media, options, _ := strings.Cut(strings.ToLower(string(head[len("data:"):])), ";")
	if other := otherTypes[media]; other != "" {
		media = other
	}
	m.Type, m.Encoded = media, strings.HasSuffix(options, "base64") && isBase64(data)
	m.Data = data
	return m
}

func hasPrefixFold(text []byte, prefix string) bool {
	return len(text) >= len(prefix) && strings.EqualFold(string(text[:len(prefix)]), prefix)
}

// isBase64 reports whether text has only characters of base64, which need no escape in JSON.
func isBase64(text []byte) bool {
	for _, c := range text {
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '+' || c == '/' || c == '=') {
			return false
		}
	}
	return len(text) > 0
}
