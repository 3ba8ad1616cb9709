/* A desktop that is a program of libvncserver: it shows the picture in the file argv[1], in format PPM,
   and says each key and each text of the clipboard that arrive. The options of libvncserver follow. */
#include <rfb/rfb.h>
#include <stdio.h>
#include <stdlib.h>

static void key(rfbBool down, rfbKeySym symbol, rfbClientPtr client)
{
	printf("%s %#x\n", down ? "down" : "up", (unsigned)symbol);
}

static void pasted(char *text, int length, rfbClientPtr client)
{
	printf("latin1 %.*s\n", length, text);
}

static void pasted_utf8(char *text, int length, rfbClientPtr client)
{
	printf("utf8 %.*s\n", length, text);
}

int main(int argc, char **argv)
{
	int width, height, i;
	FILE *file = argc > 1 ? fopen(argv[1], "rb") : NULL;
	rfbScreenInfoPtr screen;
	unsigned char *pixels;

	if (!file || fscanf(file, "P6 %d %d 255", &width, &height) != 2 || fgetc(file) == EOF) {
		fprintf(stderr, "no picture\n");
		return 1;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	screen = rfbGetScreen(&argc, argv, width, height, 8, 3, 4);
	pixels = malloc(4 * width * height);
	if (!screen || !pixels)
		return 1;
	for (i = 0; i < width * height; i++)
		if (fread(pixels + 4 * i, 3, 1, file) != 1)
			return 1;
	screen->frameBuffer = (char *)pixels;
	screen->alwaysShared = TRUE;
	screen->kbdAddEvent = key;
	screen->setXCutText = pasted;
	screen->setXCutTextUTF8 = pasted_utf8;
	rfbInitServer(screen);
	rfbRunEventLoop(screen, 10000, FALSE);
	return 0;
}
