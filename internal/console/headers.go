package console

import "net/http"

// policy is what a page may load and do: nothing but its own files, and no script in a text.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; " +
	"base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// desktopPolicy is the policy of the page with a desktop: noVNC draws JPEG and cursors as data: images.
const desktopPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; " +
	"base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// headers are those of every answer. Files override Cache-Control.
var headers = map[string]string{
	"Content-Security-Policy":      policy,
	"X-Frame-Options":              "DENY",
	"X-Content-Type-Options":       "nosniff",
	"Referrer-Policy":              "same-origin",
	"Cache-Control":                "no-store",
	"Cross-Origin-Opener-Policy":   "same-origin",
	"Cross-Origin-Resource-Policy": "same-origin",
	"Permissions-Policy":           "clipboard-read=(self), clipboard-write=(self), fullscreen=(self)",
}

func setHeaders(h http.Header) {
	for name, value := range headers {
		h.Set(name, value)
	}
}
