package console

import (
	"html/template"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
)

// documentation is where the manual is.
const documentation = "https://github.com/gatehouse-proxy/gatehouse/blob/main/docs/"

// codesLink is the table of all codes, with the same texts.
const codesLink = documentation + "refusals.md"

// explanation is what a code means and what to do, in the words of the manual.
type explanation struct{ Text, Advice template.HTML }

func explanationOf(m apierror.Meaning) explanation {
	return explanation{marked(m.Text), marked(m.Advice)}
}

// explain says what the code of a call means. A provider's own code has no text.
func explain(code string) explanation { return explanationOf(apierror.Code(code).Meaning()) }

// Explanation says what the end of a row means.
func (r *activityRow) Explanation() explanation {
	switch {
	case r.Ended != "":
		return explanationOf(desktop.Reason(r.Ended).Meaning())
	case r.Session():
		return explanationOf(desktop.RefusalCode(r.Code).Meaning())
	case r.Code == "" && r.IsError:
		return explanation{Text: "The tool ran, and answered that it has failed. What it says went to the caller and is not kept."}
	}
	return explain(r.Code)
}

// meaningOf says what the code of an attempt means, or that of a target that was not asked.
func meaningOf(code string) template.HTML { return marked(apierror.AttemptMeaning(code)) }

// marked is a text of the manual as HTML: what stands between backquotes is code.
func marked(text string) template.HTML {
	var out strings.Builder
	for i, part := range strings.Split(text, "`") {
		part = template.HTMLEscapeString(part)
		if i%2 == 1 {
			part = "<code>" + part + "</code>"
		}
		out.WriteString(part)
	}
	return template.HTML(out.String()) //nolint:gosec // all of it is escaped
}
