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

// block returns the block of an image or a document, whose bytes the request must have.
func (w *turns) block(part translate.Object, typ string) ([]byte, error) {
	kind, key, formats := "image", "url", imageFormats
	if typ == "file" {
		kind, key, formats = "document", "file_data", documentFormats
	} else if typ != "image_url" {
		return nil, translate.UnsupportedType(part, typ)
	}
	o, err := part.RequiredObject(typ)
	if err != nil {
		return nil, err
	}
	if err := o.Only(key, "detail", "filename"); err != nil {
		return nil, err
	}
	value, err := o.RequiredText(key)
	if err != nil {
		return nil, err
	}
	m := translate.ReadMedia(value)
	name, err := o.DecodedText("filename")
	if err != nil {
		return nil, err
	}
	if kind == "document" && m.Type == "" && !m.HTTPS && strings.HasSuffix(strings.ToLower(name), ".pdf") { // base64 alone
		m = translate.Media{Encoded: true, Type: "application/pdf", Data: value[1 : len(value)-1]}
	}
	if !m.Encoded || formats[m.Type] == "" {
		return nil, apierror.New(apierror.UnsupportedParameter, "%q must be a data URL in base64 of a type that Bedrock takes: it fetches no address", o.Param(key)).
			WithParam(o.Param(key))
	}
	block := append([]byte(`{"`+kind+`":{"format":"`), formats[m.Type]...)
	block = append(block, '"')
	if kind == "document" { // names of callers could be read as instructions
		w.documents++
		block = translate.AppendTextMember(block, "name", strconv.AppendInt([]byte("document "), int64(w.documents), 10))
	}
	block = append(translate.AppendTextMember(append(translate.AppendKey(block, "source"), '{'), "bytes", m.Data), "}}}"...)
	return block, nil
}
