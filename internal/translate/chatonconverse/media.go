package chatonconverse

import (
	"strconv"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// imageFormats and documentFormats are what Converse calls media types.
var (
	imageFormats    = map[string]string{"image/png": "png", "image/jpeg": "jpeg", "image/jpg": "jpeg", "image/gif": "gif", "image/webp": "webp"}
	documentFormats = map[string]string{
		"application/pdf": "pdf", "text/csv": "csv", "text/html": "html", "text/plain": "txt", "text/markdown": "md",
		"application/msword": "doc", "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx",
		"application/vnd.ms-excel": "xls", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "xlsx",
	}
)

// appendMedia appends a block of an image or a document, whose bytes the request must have.
func (w *turns) appendMedia(dst []byte, part translate.Reader, typ string) []byte {
	kind, key, formats := "image", "url", imageFormats
	if typ == "file" {
		kind, key, formats = "document", "file_data", documentFormats
	} else if typ != "image_url" {
		translate.RefuseType(part, typ)
	}
	o := part.RequiredObject(typ, key, "detail", "filename")
	value, name := o.RequiredText(key), o.DecodedText("filename")
	m := translate.ReadMedia(value)
	if kind == "document" && m.Type == "" && !m.HTTPS && strings.HasSuffix(strings.ToLower(name), ".pdf") { // base64 alone
		m = translate.Media{Encoded: true, Type: "application/pdf", Data: value[1 : len(value)-1]}
	}
	if !m.Encoded || formats[m.Type] == "" {
		o.Fail(apierror.New(apierror.UnsupportedParameter, "%q must be a data URL in base64 of a type that Bedrock takes: it fetches no address", o.Param(key)).
			WithParam(o.Param(key)))
	}
	dst = append(translate.AppendComma(dst), `{"`+kind+`":{`...)
	dst = translate.AppendTextMember(dst, "format", []byte(formats[m.Type]))
	if kind == "document" { // names of callers could be read as instructions
		w.documents++
		dst = translate.AppendTextMember(dst, "name", strconv.AppendInt([]byte("document "), int64(w.documents), 10))
	}
	return append(translate.AppendTextMember(append(translate.AppendKey(dst, "source"), '{'), "bytes", m.Data), "}}}"...)
}
