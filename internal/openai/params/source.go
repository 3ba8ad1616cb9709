package params

import (
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

// sourceSum sums up the members "source" of one part.
type sourceSum struct {
	text  bool  // one is text, or parts, which are judged on their own
	name  bool  // one is a string: a URL, or the origin of a text
	file  bool  // one is declared as something else than an image
	bytes int64 // of those that are not text
}

// source judges a source of a part.
func (c *Content) source(sum *sourceSum, value []byte, depth int) {
	switch value[0] {
	case '{':
	case '"':
		sum.name = true
		return
	default:
		c.unpriced("content")
		return
	}
	text, image := sourceKind(value)
	if !text { // its bytes count as a whole, so nothing inside counts again
		sum.bytes += int64(len(value))
		sum.file = sum.file || !image
		return
	}
	sum.text = true
	for m := range jsonscan.AllMembers(value) {
		if m.Kind == '[' && string(foldKey(m.DecodedKey(value))) == "content" {
			c.list(m.Value(value), depth-1, true)
		}
	}
}

// sourceKind reports whether a source is text, or parts, and if not, whether it can be an image.
func sourceKind(source []byte) (text, image bool) {
	typed, other := false, false
	image = true
	for m := range jsonscan.AllMembers(source) {
		value := m.Value(source)
		switch string(foldKey(m.DecodedKey(source))) {
		case "type":
			name, _ := jsonscan.String(value)
			typed, other = true, other || name != "text" && name != "content"
		case "content":
			other = other || m.Kind != '"' && m.Kind != '['
		case "url":
			other = true
			encoded, ok := dataImage(value)
			image = image && (ok || !encoded)
		case "file_id":
			other = true
		case "media_type":
			name, _ := jsonscan.String(value)
			image = image && isImage(name)
		}
	}
	return typed && !other, image
}

// imageURL reads the URL of an image, which is the value or its member url.
func (c *Content) imageURL(value []byte) {
	switch value[0] {
	case '"':
		c.inline(value)
	case '{':
		for m := range jsonscan.AllMembers(value) {
			if m.Kind == '"' && string(foldKey(m.DecodedKey(value))) == "url" {
				c.inline(m.Value(value))
			}
		}
	default:
		c.unpriced("content")
	}
}

// inline reads a URL that may contain the image itself. Some providers also accept other files
// there, such as a PDF of a thousand pages.
func (c *Content) inline(url []byte) {
	switch encoded, image := dataImage(url); {
	case image:
		c.Encoded += int64(len(url))
	case encoded:
		c.unpriced("file")
	}
}

// maxMediaType is how many bytes of a URL are read for its media type: three times the longest one
// of an image in use, with escapes.
const maxMediaType = 128

// dataImage reports whether a quoted URL is a data URL (RFC 2397), and whether that is of an image.
func dataImage(quoted []byte) (encoded, image bool) {
	if quoted[0] != '"' {
		return false, false
	}
	end := 1
	for end < len(quoted)-1 && end < maxMediaType { // not into an escape
		switch {
		case quoted[end] != '\\':
			end++
		case quoted[end+1] == 'u':
			end += len(`\u0000`)
		default:
			end += len(`\n`)
		}
	}
	head, _ := jsonscan.String(append(quoted[:end:end], '"'))
	head = strings.TrimLeft(head, " \t\r\n")
	if len(head) < len("data:") || !strings.EqualFold(head[:len("data:")], "data:") {
		return false, false
	}
	return true, isImage(head[len("data:"):])
}

// isImage reports whether a media type is one of images.
func isImage(mediaType string) bool {
	return len(mediaType) > len("image/") && strings.EqualFold(mediaType[:len("image/")], "image/")
}
