//! Images: rows, columns, and channels where a pixel has several.

use super::DataError;
use crate::cli::array::{Array, Values};
use ::png::{BitDepth, Decoder, DecodingError, Transformations};
use std::io::{Cursor, ErrorKind};
use strew::Type;

/// The samples of an image as its pixels show them: colours of a palette are looked up, and gray of
/// less than eight bits is spread over eight. Of an animation it is the first picture.
pub(super) fn read(bytes: &[u8], ty: Type) -> Result<Array, DataError> {
    let mut decoder = Decoder::new(Cursor::new(bytes));
    decoder.set_transformations(Transformations::EXPAND);
    let mut reader = decoder.read_info().map_err(broken)?;
    let (color, depth) = reader.output_color_type();
    let stored = match depth {
        BitDepth::Sixteen => Type::U16,
        _ => Type::U8,
    };
    if stored != ty {
        return Err(DataError(format!(
            "has samples of type {stored}, expected {ty}; types are never converted silently"
        )));
    }
    let (width, height) = reader.info().size();
    let size = reader.output_buffer_size();
    let mut samples = Vec::new();
    let size = size.filter(|size| samples.try_reserve_exact(*size).is_ok());
    let size = size.ok_or_else(|| {
        DataError(format!(
            "there is no memory for {width} columns and {height} rows"
        ))
    })?;
    samples.resize(size, 0);
    reader.next_frame(&mut samples).map_err(broken)?;
    let mut shape = vec![u64::from(height), u64::from(width)];
    let channels = color.samples() as u64;
    shape.extend((channels > 1).then_some(channels));
    let values = values(stored, samples);
    Ok(Array { shape, values })
}

fn broken(error: DecodingError) -> DataError {
    let why = match error {
        DecodingError::IoError(error) if error.kind() == ErrorKind::UnexpectedEof => {
            "it ends before the image does".to_owned()
        }
        other => in_words(&other.to_string()),
    };
    DataError(format!("is no PNG image: {why}"))
}

/// What is wrong, without what only those who write decoders can read.
fn in_words(text: &str) -> String {
    const CHUNK: &str = "ChunkType { type: ";
    let text = match text.split_once(CHUNK) {
        None => text.to_owned(),
        Some((before, rest)) => {
            let name = rest.split(',').next().unwrap_or_default();
            let behind = rest.split_once('}').map_or("", |(_, behind)| behind);
            format!("{before}{name}{behind}")
        }
    };
    match text.starts_with("Corrupt deflate stream") {
        true => "what it compresses is damaged".to_owned(),
        false => text.trim_end_matches('.').to_owned(),
    }
}

fn values(stored: Type, samples: Vec<u8>) -> Values {
    match stored {
        Type::U16 => {
            // The format has the higher byte first.
            let (pairs, _) = samples.as_chunks();
            let samples: Vec<_> = pairs.iter().map(|it| u16::from_be_bytes(*it)).collect();
            Values::U16(samples.into())
        }
        _ => Values::U8(samples.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ::png::{ColorType, Encoder};

    fn image(
        color: ColorType,
        depth: BitDepth,
        (width, height): (u32, u32),
        data: &[u8],
    ) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut encoder = Encoder::new(&mut bytes, width, height);
        encoder.set_color(color);
        encoder.set_depth(depth);
        if color == ColorType::Indexed {
            encoder.set_palette(vec![9, 8, 7, 6, 5, 4]);
        }
        let mut writer = encoder.write_header().expect("a header");
        writer.write_image_data(data).expect("samples");
        writer.finish().expect("an end");
        bytes
    }

    #[test]
    fn gray_has_two_dimensions_and_colour_three() {
        let gray = image(
            ColorType::Grayscale,
            BitDepth::Eight,
            (3, 2),
            &[1, 2, 3, 4, 5, 6],
        );
        let array = read(&gray, Type::U8).expect("an image");
        assert_eq!(array.shape, [2, 3]);
        assert_eq!(array.values, Values::U8(vec![1, 2, 3, 4, 5, 6].into()));
        let rgb = image(ColorType::Rgb, BitDepth::Eight, (1, 2), &[1, 2, 3, 4, 5, 6]);
        let array = read(&rgb, Type::U8).expect("an image");
        assert_eq!(array.shape, [2, 1, 3]);
        let rgba = image(ColorType::Rgba, BitDepth::Eight, (1, 1), &[1, 2, 3, 4]);
        assert_eq!(read(&rgba, Type::U8).expect("an image").shape, [1, 1, 4]);
    }

    #[test]
    fn palettes_bits_and_wide_samples_are_what_they_show() {
        let palette = image(ColorType::Indexed, BitDepth::One, (2, 1), &[0b0100_0000]);
        let array = read(&palette, Type::U8).expect("an image");
        assert_eq!(array.shape, [1, 2, 3]);
        assert_eq!(array.values, Values::U8(vec![9, 8, 7, 6, 5, 4].into()));
        let bits = image(ColorType::Grayscale, BitDepth::Two, (4, 1), &[0b0001_1011]);
        let array = read(&bits, Type::U8).expect("an image");
        assert_eq!(array.values, Values::U8(vec![0, 85, 170, 255].into()));
        let wide = image(ColorType::Grayscale, BitDepth::Sixteen, (1, 1), &[1, 2]);
        let array = read(&wide, Type::U16).expect("an image");
        assert_eq!(array.values, Values::U16(vec![258].into()));
    }

    #[test]
    fn other_types_and_broken_images_are_refused() {
        let gray = image(ColorType::Grayscale, BitDepth::Eight, (2, 1), &[1, 2]);
        let error = read(&gray, Type::F32).expect_err("no floats").to_string();
        assert_eq!(
            error,
            "has samples of type u8, expected f32; types are never converted silently"
        );
        for length in 0..gray.len() - 12 {
            assert!(read(&gray[..length], Type::U8).is_err(), "{length} bytes");
        }
        let mut changed = gray;
        changed[45] ^= 1;
        let error = read(&changed, Type::U8)
            .expect_err("a checksum")
            .to_string();
        assert!(error.starts_with("is no PNG image: CRC error"), "{error}");
        assert!(error.ends_with(" while decoding IDAT chunk"), "{error}");
        let error = |bytes: &[u8]| read(bytes, Type::U8).expect_err("broken").to_string();
        assert_eq!(error(b"no image"), "is no PNG image: Invalid PNG signature");
        assert_eq!(
            error(&changed[..50]),
            "is no PNG image: it ends before the image does"
        );
        let deflated = in_words("Corrupt deflate stream. BadCodeLengthHuffmanTree");
        assert_eq!(deflated, "what it compresses is damaged");
    }
}
