package console

import (
	"bytes"
	"embed"
	"html/template"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
)

//go:embed templates
var templateFiles embed.FS

// templates has each page's template by its name, with the layout and the parts. They are parsed
// once.
var templates = sync.OnceValue(func() map[string]*template.Template {
	base := template.Must(template.New("layout").Funcs(functions).ParseFS(templateFiles, "templates/layout.html", "templates/parts.html"))
	all := make(map[string]*template.Template)
	files, _ := templateFiles.ReadDir("templates") // embedded
	for _, file := range files {
		name := strings.TrimSuffix(file.Name(), ".html")
		if name != "layout" && name != "parts" {
			all[name] = template.Must(template.Must(base.Clone()).ParseFS(templateFiles, "templates/"+file.Name()))
		}
	}
	return all
})

// layout is what the layout of every page shows.
type layout struct {
	Title, Notice string
	Missing       string // what the page lacks while commits are blocked, or ""
	Menu          []menuGroup
	// Key is the name of the signed-in key or role, User that of the person, or ""; both "" for
	// nobody.
	Key, User string
	Theme     string // "light", "dark", or "" for the theme of the system
	Assets    string // the URL of the files
	Path      string // of this page, with its query
	Now       time.Time
	Page      any // what the page's own template shows
}

// render answers 200 with a page: the template NAME.html with its data.
func (v *visit) render(name string, data any) error { return v.show(http.StatusOK, name, data) }

func (v *visit) show(status int, name string, data any) error {
	if isPoll(v.r) && status == http.StatusOK {
		return writeTemplate(v.w, status, name, "main", layout{Path: v.r.URL.RequestURI(), Now: v.now, Page: data})
	}
	return writePage(v.w, status, name, layout{
		Title: v.page.title, Notice: notices[v.query.Get("done")], Missing: activity.Missing(v.until, v.now), Menu: v.menu(), Key: v.caller.Configured(), User: v.caller.User,
		Theme: theme(v.r), Path: v.r.URL.RequestURI(), Now: v.now, Page: data,
	})
}

// writePage answers with a page.
func writePage(w http.ResponseWriter, status int, name string, data layout) error {
	return writeTemplate(w, status, name, "layout", data)
}

// writeTemplate answers with a part of the template of a page. One that fails leaves nothing behind:
// the page is made before the answer begins.
func writeTemplate(w http.ResponseWriter, status int, name, part string, data layout) error {
	data.Assets = assetURL()
	var page bytes.Buffer
	if err := templates()[name].ExecuteTemplate(&page, part, data); err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Length", strconv.Itoa(page.Len()))
	w.WriteHeader(status)
	_, _ = w.Write(page.Bytes()) // the browser may have left
	return nil
}
