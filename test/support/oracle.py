"""What Pillow makes of a picture, and how far another picture is from it. See oracle.ts, which runs this.

Reads {"input": path, "actual": path, "frame": number, "operations": [{"do": name, ...}]} and writes
{"expected": [width, height], "actual": [width, height], "difference": mean absolute difference of 255, or null}.
Pictures are compared with their colours multiplied by their alpha: what cannot be seen is not compared.
"""
import io
import json
import math
import sys

from PIL import Image, ImageChops, ImageCms, ImageFilter, ImageOps


def load(path, frame):
    image = Image.open(path)
    image.seek(frame if getattr(image, "n_frames", 1) > frame else 0)
    profile = image.info.get("icc_profile")
    image = ImageOps.exif_transpose(image)
    if image.mode.startswith("I"):
        image = image.point(lambda value: value / 256).convert("L")
    if profile and image.mode in ("RGB", "CMYK"):
        source = ImageCms.ImageCmsProfile(io.BytesIO(profile))
        image = ImageCms.profileToProfile(image, source, ImageCms.createProfile("sRGB"), outputMode="RGB")
    return image.convert("RGBA")


def crop(image, left, top, width, height):
    return image.crop((left, top, left + width, top + height))


def resize(image, width, height, filter="LANCZOS"):
    # Pillow multiplies by alpha before it scales, as the service does.
    return image.resize((width, height), Image.Resampling[filter])


def pad(image, left, top, width, height, background):
    canvas = Image.new("RGBA", (width, height), tuple(background))
    canvas.paste(image, (left, top))
    return canvas


def flip(image):
    return ImageOps.flip(image)


def flop(image):
    return ImageOps.mirror(image)


def rotate(image, angle, background):
    """Clockwise, about the centre, onto the smallest canvas of whole pixels that is nearest to the picture's."""
    turn = math.radians(angle)
    cos, sin = math.cos(turn), math.sin(turn)
    width = round(abs(image.width * cos) + abs(image.height * sin))
    height = round(abs(image.width * sin) + abs(image.height * cos))
    across, down = image.width / 2, image.height / 2
    # From the pixels of the canvas back to those of the picture.
    matrix = (
        cos, sin, across - cos * width / 2 - sin * height / 2,
        -sin, cos, down + sin * width / 2 - cos * height / 2,
    )
    size = (width, height)
    turned = image.convert("RGBa").transform(size, Image.Transform.AFFINE, matrix, Image.Resampling.BILINEAR)
    canvas = Image.new("RGBA", size, tuple(background))
    covered = Image.new("L", image.size, 255).transform(size, Image.Transform.AFFINE, matrix, Image.Resampling.BILINEAR)
    canvas.paste(turned.convert("RGBA"), (0, 0), covered)
    return canvas


def blur(image, sigma, region=None):
    part = crop(image, **region) if region else image
    blurred = part.convert("RGBa").filter(ImageFilter.GaussianBlur(sigma)).convert("RGBA")
    image = image.copy()
    image.paste(blurred, (region["left"], region["top"]) if region else (0, 0))
    return image


def grayscale(image):
    """Brightness is a sum of light, so the values are made linear first (IEC 61966-2-1, weights of BT.709)."""
    def light(value):
        return value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4

    def stored(value):
        return value * 12.92 if value <= 0.0031308 else 1.055 * value ** (1 / 2.4) - 0.055

    lights = [light(value / 255) for value in range(256)]
    greys = []
    for red, green, blue, alpha in image.getdata():
        grey = round(255 * stored(0.2126 * lights[red] + 0.7152 * lights[green] + 0.0722 * lights[blue]))
        greys.append((grey, grey, grey, alpha))
    image = image.copy()
    image.putdata(greys)
    return image


def flatten(image, background):
    canvas = Image.new("RGBA", image.size, tuple(background))
    return Image.alpha_composite(canvas, image)


OPERATIONS = {
    function.__name__: function
    for function in (crop, resize, pad, flip, flop, rotate, blur, grayscale, flatten)
}


def difference(expected, actual):
    """The mean over all pixels and channels, of 255."""
    total = 0
    for one, other in zip(expected.convert("RGBa").split(), actual.convert("RGBa").split()):
        histogram = ImageChops.difference(one, other).histogram()
        total += sum(value * count for value, count in enumerate(histogram))
    return total / (4 * expected.width * expected.height)


def main():
    task = json.load(sys.stdin)
    expected = load(task["input"], task["frame"])
    for operation in task["operations"]:
        name = operation.pop("do")
        expected = OPERATIONS[name](expected, **operation)
    actual = load(task["actual"], task["frame"])
    same = expected.size == actual.size
    answer = {"expected": expected.size, "actual": actual.size, "difference": difference(expected, actual) if same else None}
    json.dump(answer, sys.stdout)


main()
