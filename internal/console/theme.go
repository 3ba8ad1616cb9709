package console

import (
	"net/http"
	"strings"
)

// themeCookie keeps the choice of light or dark. It is no secret, and the same for all tabs.
const themeCookie = "gatehouse-theme"

// themeDays is how long a browser keeps the choice.
const themeDays = 365

// theme returns the chosen theme, "" for the theme of the system.
func theme(r *http.Request) string {
	if c, err := r.Cookie(themeCookie); err == nil && (c.Value == "light" || c.Value == "dark") {
		return c.Value
	}
	return ""
}

// setTheme keeps the choice and returns to the page on which it was made.
func setTheme(v *visit) error {
	f, err := readForm(v)
	if err != nil {
		return err
	}
	cookie := &http.Cookie{Name: themeCookie, Path: Prefix, MaxAge: themeDays * 24 * 3600, HttpOnly: true, SameSite: http.SameSiteLaxMode}
	switch choice := f.Value("theme"); choice {
	case "light", "dark":
		cookie.Value = choice
	default:
		cookie.MaxAge = -1
	}
	http.SetCookie(v.w, cookie)
	return v.redirect(ownPath(f.Value("return")), "")
}

// ownPath returns a path of the console that a form has sent, or the path of the overview. Anything
// else could lead to another site.
func ownPath(path string) string {
	if strings.HasPrefix(path, Prefix+"/") && !strings.ContainsAny(path, "\\\r\n") {
		return path
	}
	return Prefix + "/"
}
